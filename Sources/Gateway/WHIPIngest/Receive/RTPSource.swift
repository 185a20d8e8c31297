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

    /// A packet in the books: its unwrapped number and time, and whether it was expected.
    struct Entry {
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
    /// The layer's height times width by its SPS; 0 until one came.
    var pixelCount = 0
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

    /// Books a packet of this source, however it came.
    /// - Returns: nil for a duplicate.
    mutating func take(_ number: UInt16, _ rtpTime: UInt32, isRetransmission: Bool, at now: MonotonicTime) -> Entry? {
        let sequenceNumber = isRetransmission ? numbers.extend(number) : numbers.unwrap(number)
        let arrival = losses.received(sequenceNumber, at: now)
        if arrival == .duplicate { return nil }
        statistics.received(sequenceNumber, timestamp: rtpTime, arrival: now, clockRate: clockRate)
        return Entry(sequenceNumber: sequenceNumber, timestamp: timestamps.unwrap(rtpTime), arrival: arrival)
    }

    private static let maximumUnanswered = 256
}
