import RTCP
import RTP
import StageHub
import Wire

/// One synchronisation source of a publisher: which track and layer it is, and what came of it.
struct RTPSource {
    enum Role: Equatable {
        case media
        /// RTX (RFC 4588) for the media source at that index.
        case retransmission(of: Int)
    }

    /// A packet's number and time, which never wrap, and whether it was expected.
    struct Unwrapped {
        let sequenceNumber: Int64
        let timestamp: Int64
        let arrival: LossTracker.Arrival
    }

    let ssrc: UInt32
    let track: TrackID
    let role: Role
    var clockRate: Int64 { track.kind == .video ? ClockRate.video : ClockRate.audio }
    var numbers = ExtendedSequenceNumber()
    var timestamps = RTPTimestampUnwrapper()
    var statistics = SourceStatistics()
    var losses = LossTracker()
    var lastArrival: MonotonicTime = .zero
    /// Packets asked for in vain: an encoder that never answers for a layer is not asked again (OBS's lower layers).
    var unansweredRequests = 0
    var isAnswering: Bool { losses.recovered > 0 || unansweredRequests < RTPSource.maximumUnanswered }

    init(ssrc: UInt32, track: TrackID, role: Role) { (self.ssrc, self.track, self.role) = (ssrc, track, role) }

    /// Something came from this source.
    /// - Returns: whether it is the first.
    mutating func heard(at now: MonotonicTime) -> Bool {
        defer { lastArrival = now }
        return lastArrival == .zero
    }

    /// Takes a packet of this source, however it came.
    /// - Returns: nil for a duplicate, and for another layer's packet.
    mutating func take(_ number: UInt16, _ rtpTime: UInt32, isRetransmission: Bool, at now: MonotonicTime) -> Unwrapped? {
        let sequenceNumber = isRetransmission ? numbers.extend(number) : numbers.unwrap(number)
        let arrival = losses.received(sequenceNumber, timestamp: rtpTime, at: now)
        if arrival == .duplicate || arrival == .foreign { return nil }
        statistics.received(sequenceNumber, timestamp: rtpTime, arrival: now, clockRate: clockRate)
        return Unwrapped(sequenceNumber: sequenceNumber, timestamp: timestamps.unwrap(rtpTime), arrival: arrival)
    }

    private static let maximumUnanswered = 256
}

/// What a receiver report tells of one source (RFC 3550 §6.4.1, A.3, A.8).
struct SourceStatistics {
    private var base: Int64?
    private var highest: Int64 = 0
    private(set) var received = 0
    private var expectedPrior = 0
    private var receivedPrior = 0
    private var transit: Int64?
    /// In units of the source's clock, 1/16ths kept as the RFC's sample code does.
    private var jitterBySixteen: Int64 = 0
    private var lastReport: (compactNTP: UInt32, arrival: MonotonicTime)?

    var jitter: UInt32 { UInt32(truncatingIfNeeded: jitterBySixteen >> 4) }
    var expected: Int { base.map { Int(highest - $0 + 1) } ?? 0 }

    mutating func received(_ sequenceNumber: Int64, timestamp: UInt32, arrival: MonotonicTime, clockRate: Int64) {
        if base == nil { (base, highest) = (sequenceNumber, sequenceNumber) }
        highest = max(highest, sequenceNumber)
        received += 1
        // The arrival in the source's clock: seconds and rest apart, so that nothing overflows.
        let (seconds, rest) = arrival.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let local = seconds &* clockRate &+ rest * clockRate / 1_000_000_000
        let now = Int64(UInt32(truncatingIfNeeded: local) &- timestamp)
        if let transit {
            let difference = abs(Int64(Int32(truncatingIfNeeded: now - transit)))
            jitterBySixteen += difference - (jitterBySixteen + 8) >> 4
        }
        transit = now
    }

    mutating func senderReported(_ report: SenderReport, at now: MonotonicTime) { lastReport = (report.compactNTP, now) }

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
