import RTP
import TestSupport
import Testing

@Suite("Sequence index")
struct SequenceIndexTests {
    @Test func `of the last numbers each is found where it was noted, and no other is`() {
        var index = SequenceIndex(capacity: 256)
        var noted: [Int64: Int] = [:]
        var random = SplitMix64(seed: 5)
        var number: Int64 = 40_000
        for position in 0..<5_000 {
            // Gaps, and numbers that come late.
            number += Int64(random.next() % 4)
            let late = number - Int64(random.next() % 8)
            index.note(late, at: position)
            noted[late] = position
            let wanted = (number - 200)...(number + 3)
            #expect(wanted.allSatisfy { index.position(of: $0) == noted[$0] })
        }
    }
}
