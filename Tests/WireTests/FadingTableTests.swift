import TestSupport
import Testing
import Wire

@Suite("Fading table")
struct FadingTableTests {
    private let clock = FakeClock()

    @Test func `forgets by time alone and admits newcomers while full`() {
        var table = FadingTable<UInt32, Bool>(maximumCount: 100, lifetime: .seconds(5))
        expectFading(maximum: 100, lifetime: .seconds(5)) { source, now in
            table.set(true, for: source, at: now)
            return table.value(of: source, at: now) == true
        } count: {
            table.count(at: $0)
        }
    }

    @Test(arguments: [1, 1_000, 4_999, 5_000, 7_500] as [Int64])
    func `an entry is remembered for one to two lifetimes after its last use`(since: Int64) {
        var table = FadingTable<String, Int>(maximumCount: 100, lifetime: .seconds(5))
        _ = table.count(at: clock.now)
        table.set(1, for: "a", at: clock.advance(by: .milliseconds(since)))
        let kept = [4_999, 4_999, 10_000].map { table.value(of: "a", at: clock.advance(by: .milliseconds($0))) }
        #expect(kept == [1, 1, nil], "each use is the last one")
    }

    @Test func `a glimpse keeps nothing`() {
        var table = FadingTable<String, Int>(maximumCount: 100, lifetime: .seconds(5))
        table.set(1, for: "a", at: clock.now)
        for _ in 0..<10 {
            _ = table.glimpse(of: "a")
            _ = table.count(at: clock.advance(by: .seconds(1)))
        }
        #expect(table.glimpse(of: "a") == nil)
    }

    @Test func `a flood displaces what was used longest ago, and never what is in use`() {
        var table = FadingTable<Int, Bool>(maximumCount: 100, lifetime: .seconds(5)) { $0 }
        table.set(true, for: -1, at: clock.now)
        table.set(false, for: -2, at: clock.now)
        table.set(false, for: -3, at: clock.now)
        for number in 0..<1_000 {
            table.set(false, for: number, at: clock.now)
            guard number % 40 == 0 else { continue }
            let used = table.value(of: -2, at: clock.now)
            #expect(used == false)
        }
        #expect(table.glimpse(of: -1) == true)
        #expect(table.glimpse(of: -3) == nil)
        let count = table.count(at: clock.advance(by: .seconds(1_000)))
        #expect(count == 1)
    }

    @Test func `entries in use alone shut it to nobody, and stay within its bound`() {
        var table = FadingTable<Int, Bool>(maximumCount: 100, lifetime: .seconds(5)) { $0 }
        for number in 0..<1_000 {
            table.set(true, for: number, at: clock.now)
            #expect(table.glimpse(of: number) == true)
            let count = table.count(at: clock.now)
            #expect(count <= 100)
        }
    }
}
