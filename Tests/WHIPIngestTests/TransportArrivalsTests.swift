import RTCP
import Testing
import Wire

@testable import WHIPIngest

@Suite("Transport-wide feedback")
struct TransportArrivalsTests {
    @Test func `each transport-wide number is reported once`() throws {
        var arrivals = TransportArrivals()
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        for number in [65_534, 65_535, 1, 2] as [UInt16] {
            arrivals.received(number, at: now)
            now = now + .milliseconds(1)
        }
        let first = arrivals.feedback(at: now, senderSSRC: 1, mediaSSRC: 2)
        let feedback = try #require(first)
        #expect(feedback.baseSequenceNumber == 65_534 && feedback.arrivalDeltas.count == 5)
        #expect(feedback.arrivalDeltas[2] == nil && feedback.arrivalDeltas[3] == 4)
        arrivals.received(3, at: now + .milliseconds(100))
        let second = arrivals.feedback(at: now + .milliseconds(200), senderSSRC: 1, mediaSSRC: 2)
        let next = try #require(second)
        #expect(next.baseSequenceNumber == 3 && next.feedbackCount == 1)
        var writer = ByteWriter()
        next.write(into: &writer)
        #expect(writer.count % 4 == 0)
    }
}
