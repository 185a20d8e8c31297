import TestSupport
import Testing
import Wire

@testable import RouterForwarding

@Suite("Feedback bounds")
struct FeedbackBoundsTests {
    let clock = FakeClock()

    @Test func `keyframe requests: one in 500 ms, thirteen at first, then ten a minute`() {
        var bounds = FeedbackBounds()
        var admitted: [Int] = []
        for millisecond in 0..<120_000 where millisecond % 10 == 0 {
            if bounds.admitsKeyframeRequest(at: clock.now + .milliseconds(millisecond)) { admitted.append(millisecond) }
        }
        #expect(admitted.prefix(4) == [0, 500, 1000, 1500])
        let inFirstMinute = admitted.count { $0 < 60_000 }
        #expect(inFirstMinute == 22)
        #expect(admitted.count - inFirstMinute == 10)
        #expect(admitted.suffix(2) == [108_000, 114_000])
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

    @Test func `a PAUSE that holds is answered once in 100 ms, another one at once, within what may be sent again`() {
        var bounds = FeedbackBounds()
        let steps = [(0, true, true), (0, false, false), (99, false, false), (100, false, true), (101, true, true)]
        for (millisecond, isNew, isAnswered) in steps {
            #expect(bounds.admitsPaused(isNew: isNew, at: clock.now + .milliseconds(millisecond)) == isAnswered)
        }
        let rest = (0..<1_000).count { _ in bounds.admitsPaused(isNew: true, at: clock.now + .seconds(1)) }
        #expect(rest == FeedbackBounds.retransmissionAllowance / FeedbackBounds.pausedByteCount - 3)
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
