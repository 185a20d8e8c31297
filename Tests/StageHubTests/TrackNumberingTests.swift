import TestSupport
import Testing
import Wire

@testable import StageHub

@Suite("Track numbering")
struct TrackNumberingTests {
    let clock = FakeClock()
    var numbering = TrackNumbering(clockRate: 90_000, firstSequenceNumber: 7, firstTimestamp: 5)

    @Test mutating func `gaps and late packets keep their distance`() {
        let (first, time) = numbering.number(100, 1000, arrival: clock.now)
        #expect(numbering.number(105, 4000, arrival: clock.now) == (first + 5, time + 3000))
        #expect(numbering.number(103, 3000, arrival: clock.now) == (first + 3, time + 2000))
        #expect(numbering.highestSent == first + 5)
    }

    @Test mutating func `another publisher goes on behind the highest sent, at the time that passed`() {
        let (first, time) = numbering.number(100, 1000, arrival: clock.now)
        clock.advance(by: .seconds(1))
        numbering.restart()
        #expect(!numbering.isJump(60_000))
        #expect(numbering.number(60_000, 7, arrival: clock.now) == (first + 1, time + 90_000))
        #expect(numbering.number(60_002, 3007, arrival: clock.now) == (first + 3, time + 93_000))
    }

    @Test mutating func `another layer goes on behind the highest sent, at the time of its own clock`() {
        let (first, time) = numbering.number(100, 1_000, arrival: clock.now)
        clock.advance(by: .milliseconds(70))
        numbering.change(shift: -49_000)
        #expect(
            numbering.number(7, 53_000, arrival: clock.now) == (first + 1, time + 3_000), "a frame later, whatever its way took")
        #expect(numbering.number(8, 56_000, arrival: clock.now) == (first + 2, time + 6_000))
        numbering.change(shift: 40_000)
        #expect(numbering.number(103, 4_000, arrival: clock.now) == (first + 3, time + 6_001), "never back, nor the same twice")
        numbering.change(shift: nil)
        clock.advance(by: .seconds(1))
        #expect(numbering.number(9, 0, arrival: clock.now) == (first + 4, time + 96_001))
    }

    @Test mutating func `a pause does not tell the clock of a publisher that began anew during it`() {
        let (first, time) = numbering.number(100, 1_000, arrival: clock.now)
        numbering.restart()
        clock.advance(by: .seconds(1))
        numbering.change(shift: 0)
        #expect(numbering.number(60_000, 700_000_000, arrival: clock.now) == (first + 1, time + 90_000))
    }

    @Test mutating func `changes without a packet between them add up`() {
        let (first, time) = numbering.number(100, 1_000, arrival: clock.now)
        numbering.change(shift: -40_000)
        numbering.change(shift: -9_000)
        #expect(numbering.number(7, 53_000, arrival: clock.now) == (first + 1, time + 3_000))
    }

    @Test(arguments: [3001, -3001, 1 << 40])
    func `a jump beyond 3,000 is another sequence`(_ step: Int64) {
        var numbering = TrackNumbering(clockRate: 48_000, firstSequenceNumber: 0, firstTimestamp: 0)
        let (first, _) = numbering.number(0, 0, arrival: clock.now)
        #expect(!numbering.isJump(3000))
        #expect(numbering.isJump(step))
        #expect(numbering.number(step, 0, arrival: clock.now).0 == first + 1)
    }

    @Test func `whatever a publisher does, the highest number never goes back`() {
        var generator = SplitMix64(seed: 9)
        var numbering = TrackNumbering(clockRate: 90_000, firstSequenceNumber: 65_535, firstTimestamp: .max)
        var highest = Int64.min
        for _ in 0..<20_000 {
            if generator.next() % 100 == 0 { numbering.restart() }
            let wild = Int64.random(in: .min ... .max, using: &generator)
            _ = numbering.number(generator.next() % 50 == 0 ? wild : 0, wild, arrival: clock.now)
            #expect(numbering.highestSent! >= highest)
            highest = numbering.highestSent!
        }
    }

    /// Changes of layers move the time by what the publisher's sender reports say.
    @Test(arguments: [Int64.max, .min])
    func `another sequence begins wherever the time of the last one stood`(_ last: Int64) {
        var numbering = TrackNumbering(clockRate: 90_000, firstSequenceNumber: 7, firstTimestamp: 5)
        let (first, time) = numbering.number(100, 0, arrival: clock.now)
        #expect(numbering.number(101, last &- time, arrival: clock.now) == (first + 1, last))
        numbering.restart()
        #expect(numbering.number(7, 0, arrival: clock.now).0 == first + 2)
    }

    @Test mutating func `what was sent leads back to the publisher's number, until the constants change`() {
        let (first, _) = numbering.number(100, 1_000, arrival: clock.now)
        _ = numbering.number(105, 4_000, arrival: clock.now)
        #expect(numbering.publisherNumber(ofSent: UInt16(truncatingIfNeeded: first)) == 100)
        #expect(numbering.publisherNumber(ofSent: UInt16(truncatingIfNeeded: first + 5)) == 105)
        #expect(numbering.publisherNumber(ofSent: UInt16(truncatingIfNeeded: first + 6)) == nil)
        #expect(numbering.publisherNumber(ofSent: UInt16(truncatingIfNeeded: first - 1)) == nil)
        numbering.restart()
        let (second, _) = numbering.number(7, 0, arrival: clock.now)
        #expect(numbering.publisherNumber(ofSent: UInt16(truncatingIfNeeded: first + 5)) == nil)
        #expect(numbering.publisherNumber(ofSent: UInt16(truncatingIfNeeded: second)) == 7)
    }
}
