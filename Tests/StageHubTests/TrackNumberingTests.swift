import Testing
import TestSupport
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
}

@Suite("Feedback bounds (DESIGN 6.3)")
struct FeedbackBoundsTests {
    let clock = FakeClock()

    @Test func `keyframe requests: one in 500 ms, ten a minute beyond the first three`() {
        var bounds = FeedbackBounds()
        var admitted: [Int] = []
        for millisecond in 0..<120_000 where millisecond % 10 == 0 {
            if bounds.admitsKeyframeRequest(at: clock.now + .milliseconds(millisecond)) { admitted.append(millisecond) }
        }
        #expect(admitted.prefix(4) == [0, 500, 1000, 1500])
        #expect(admitted.filter { $0 < 60_000 }.count == 13)
        #expect(admitted.count == 23)
    }

    @Test func `REMB never goes below 300 kbit/s and is forgotten after 5 s`() {
        var bounds = FeedbackBounds()
        #expect(bounds.bitrateLimit(at: clock.now) == nil)
        bounds.limitBitrate(0, at: clock.now)
        #expect(bounds.bitrateLimit(at: clock.now) == 300_000)
        bounds.limitBitrate(.max, at: clock.now)
        #expect(bounds.bitrateLimit(at: clock.now) == Int(Int32.max))
        bounds.limitBitrate(2_000_000, at: clock.now)
        #expect(bounds.bitrateLimit(at: clock.now + .milliseconds(4999)) == 2_000_000)
        #expect(bounds.bitrateLimit(at: clock.now + .seconds(5)) == nil)
    }

    @Test func `retransmissions stay within a fifth of what was sent`() {
        var bounds = FeedbackBounds()
        var (sent, again) = (0, 0)
        for _ in 0..<10_000 {
            bounds.sent(byteCount: 1200)
            sent += 1200
            while bounds.admitsRetransmission(byteCount: 1200) { again += 1200 }
        }
        #expect(again <= sent / 5 + FeedbackBounds.retransmissionAllowance)
        #expect(again >= sent / 5 - 1200)
    }
}
