import STUN
import TestSupport
import Testing
import Wire

@Suite("Local ufrags")
struct LocalUfragTests {
    @Test func `recognises its own and no others`() throws {
        let mint = UfragMint(key: (1, 2), generation: 5)
        let others = [UfragMint(key: (1, 3), generation: 5), UfragMint(key: (1, 2), generation: 6)]
        var generator = SplitMix64(seed: 1)
        for _ in 0..<1_000 {
            let ufrag = mint.mint(random: generator.next())
            #expect(mint.isOurs(ufrag))
            #expect(LocalUfrag(ufrag.description) == ufrag && ufrag.description.utf8.count == 8)
            #expect(!others[1].isOurs(ufrag))
        }
        let strangers = (0..<100_000).filter { _ in mint.isOurs(others[0].mint(random: generator.next())) }.count
        #expect(strangers < 100, "a checksum of 12 bits lets 1 of 4,096 pass")
    }

    @Test func `mints ice-chars only`() {
        let mint = UfragMint(key: (7, 9), generation: 63)
        var generator = SplitMix64(seed: 2)
        for _ in 0..<1_000 {
            let text = mint.mint(random: generator.next()).description
            #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") })
        }
    }
}
