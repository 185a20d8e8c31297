import H264
import StageHub
import Wire

/// A packet that was received, with what is to be done about it.
struct ReceivedPacket {
    /// What there is of a picture in a packet of video.
    enum Part {
        case slice
        /// A sequence parameter set, and no slice.
        case sets
        /// SEI messages and the like.
        case other
    }

    var packet: MediaPacket
    /// Its source's; with simulcast the layer.
    let track: TrackID
    let arrival: LossTracker.Arrival
    /// In time, not empty, and of the source that feeds its track.
    fileprivate(set) var goesOn = false
    /// From a newer source than the one before: the sinks' numbers begin anew too.
    fileprivate(set) var replacesFeed = false
    /// No packet of this timestamp went on right before it.
    fileprivate(set) var startsTimestamp = false
    /// Video whose payload could not be read, or only its beginning: no more of it goes on.
    var isMalformed = false
    var part = Part.other
    /// The first slice of an IDR picture is in it, or what came of that first; with what stands before it a decoder can start.
    var startsKeyframe = false
    var hasIDR = false
    /// The parameter sets describe another format than before.
    var hasNewFormat = false
    /// It goes on before the publish has really started.
    var mayStartPublish = false
    /// Of the layer, when the packet brought its SPS.
    var pictureSize: PictureSize?

    init(packet: MediaPacket, track: TrackID, arrival: LossTracker.Arrival) {
        (self.packet, self.track, self.arrival) = (packet, track, arrival)
    }

    var isTooLate: Bool { arrival == .tooLate }
    var isLate: Bool { if case .late = arrival { true } else { false } }
}

extension MediaPacket {
    /// A frame of audio is a packet.
    func endsFrame(of track: TrackID) -> Bool { marker || track.kind == .audio }
}

/// Which source feeds a track. An encoder that began anew has a new one.
struct TrackFeed {
    /// By its place among the sources.
    private var source: Int?
    private var lastTimestamp: Int64?

    /// Whether packets of a source go on; a newer one takes over.
    mutating func takes(from index: Int, _ received: inout ReceivedPacket) -> Bool {
        guard let source, source != index else {
            source = index
            return true
        }
        guard index > source else { return false }
        self.source = index
        received.replacesFeed = true
        return true
    }

    mutating func goesOn(_ received: inout ReceivedPacket) {
        received.goesOn = true
        received.startsTimestamp = received.replacesFeed || lastTimestamp != received.packet.timestamp
        lastTimestamp = received.packet.timestamp
    }
}

/// What packets have brought beside media, for the session to pass on.
struct PacketNews {
    /// Sources that came for the first time.
    var sources: [UInt32] = []
    /// Steps of the story that were reached.
    var steps: [SessionStory.Step] = []
    /// The publish has really started: told once.
    var hasStarted = false
}
