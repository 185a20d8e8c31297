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
    var numbers = ExtendedSequenceNumber()
    var timestamps = RTPTimestampUnwrapper()
    var statistics = SourceStatistics()
    var losses = LossTracker()
    var lastArrival: MonotonicTime = .zero
    /// What is asked for comes by RTX: a packet of its own stream answers nothing, it was only overtaken.
    private var isRepeatedByRTX = false
    /// In vain, each for many packets: an encoder that never answers for a layer is not asked again (OBS's lower layers). An
    /// outage makes twenty of them: the encoder does not have any more what it took.
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
        let sequenceNumber = numbers.unwrap(number)
        isRepeatedByRTX = isRepeatedByRTX || isRetransmission
        let canAnswer = isRetransmission || !isRepeatedByRTX
        let arrival = losses.received(sequenceNumber, timestamp: rtpTime, canAnswer: canAnswer, at: now)
        if arrival == .duplicate || arrival == .foreign { return nil }
        let isRepetition = isRetransmission || arrival == .late(wasAsked: true)
        statistics.received(
            sequenceNumber, timestamp: rtpTime, arrival: now, clockRate: track.clockRate, isRepetition: isRepetition)
        return Unwrapped(sequenceNumber: sequenceNumber, timestamp: timestamps.unwrap(rtpTime), arrival: arrival)
    }

    private static let maximumUnanswered = 256
}
