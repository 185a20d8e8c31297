import RTCP
import RTP
import Wire

/// What a receiver report tells of one source (RFC 3550 §6.4.1, A.3, A.8).
struct SourceStatistics {
    /// The first extended sequence number; nil before it.
    private var base: Int64?
    private var highest: Int64 = 0
    /// Packets, retransmitted ones included.
    private(set) var received = 0
    /// At the last report.
    private var expectedPrior = 0
    private var receivedPrior = 0
    /// Arrival less timestamp of the last packet, in units of the source's clock.
    private var transit: Int64?
    /// In units of the source's clock, 1/16ths kept as the RFC's sample code does.
    private var jitterBySixteen: Int64 = 0
    private var lastReport: (compactNTP: UInt32, arrival: MonotonicTime)?

    /// In units of the source's clock.
    var jitter: UInt32 { UInt32(truncatingIfNeeded: jitterBySixteen >> 4) }
    /// Packets up to the highest number.
    var expected: Int { base.map { Int(highest - $0 + 1) } ?? 0 }

    /// - Parameter isRepetition: it was asked for, so that its delay is no jitter of the way's.
    mutating func received(
        _ sequenceNumber: Int64, timestamp: UInt32, arrival: MonotonicTime, clockRate: Int64, isRepetition: Bool = false
    ) {
        if base == nil { (base, highest) = (sequenceNumber, sequenceNumber) }
        highest = max(highest, sequenceNumber)
        received += 1
        guard !isRepetition else { return }
        let local = ClockRate.ticks(ofNanoseconds: arrival.nanoseconds, at: clockRate)
        let now = Int64(UInt32(truncatingIfNeeded: local) &- timestamp)
        if let transit {
            let difference = abs(Int64(Int32(truncatingIfNeeded: now - transit)))
            jitterBySixteen += difference - (jitterBySixteen + 8) >> 4
        }
        transit = now
    }

    mutating func senderReported(_ report: SenderReport, at now: MonotonicTime) { lastReport = (report.compactNTP, now) }

    /// The block of a report that is sent now: its fraction lost counts from the last call.
    mutating func report(of ssrc: UInt32, at now: MonotonicTime) -> ReportBlock {
        let (expectedInterval, receivedInterval) = (expected - expectedPrior, received - receivedPrior)
        (expectedPrior, receivedPrior) = (expected, received)
        let lostInterval = max(0, expectedInterval - receivedInterval)
        let fraction = expectedInterval > 0 ? min(255, lostInterval * 256 / expectedInterval) : 0
        let range = ReportBlock.cumulativeLostRange
        let delay =
            lastReport.map { UInt32(truncatingIfNeeded: (now - $0.arrival).nanoseconds / 1_000 * 65_536 / 1_000_000) } ?? 0
        return ReportBlock(
            ssrc: ssrc, fractionLost: UInt8(fraction),
            cumulativeLost: Int32(max(Int(range.lowerBound), min(Int(range.upperBound), expected - received))),
            extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: highest), jitter: jitter,
            lastSenderReport: lastReport?.compactNTP ?? 0, delaySinceLastSenderReport: delay)
    }
}
