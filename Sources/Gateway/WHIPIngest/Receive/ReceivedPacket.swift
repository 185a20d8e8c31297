import StageHub
import Wire

/// A packet that was received, and what becomes of it.
struct ReceivedPacket {
    enum Fate {
        /// Nothing more: it came too late, or is empty.
        case dropped
        /// It is counted, and goes no further: a newer source feeds its track, or nothing of it can be read.
        case counted
        /// The contract judges it, and it goes to the hub.
        case forwarded
    }

    var packet: MediaPacket
    /// Its source's; with simulcast the layer.
    let track: TrackID
    let arrival: LossTracker.Arrival
    var fate = Fate.dropped
    /// From a newer source than the one before: the sinks' numbers begin anew too.
    var replacesFeed = false
    /// Video whose payload could not be read, or only its beginning: no more of it is forwarded.
    var isMalformed = false
    /// No packet of this timestamp was forwarded right before it.
    var startsTimestamp = false
    /// It is forwarded before the publish has really started.
    var mayStartPublish = false
    /// Nothing where it is audio.
    var picture = PicturePart()

    init(packet: MediaPacket, track: TrackID, arrival: LossTracker.Arrival) {
        (self.packet, self.track, self.arrival) = (packet, track, arrival)
    }

    var isLate: Bool { if case .late = arrival { true } else { false } }
}

extension MediaPacket {
    /// A frame of audio is a packet.
    func endsFrame(of track: TrackID) -> Bool { marker || track.kind == .audio }
}

/// Which source feeds a track. An encoder that began anew has a new one.
struct TrackFeed {
    /// What a source is to the track.
    enum Standing {
        /// It feeds it.
        case current
        /// It feeds it from now on, in place of an older one.
        case newer
        /// It fed it before another one.
        case former
    }

    /// By its place among the sources.
    private(set) var source: Int?
    /// Nil before the source's first packet was forwarded.
    private var lastTimestamp: Int64?

    /// Something came from a source that is this track's.
    mutating func heard(from index: Int) -> Standing {
        guard let source, source != index else {
            source = index
            return .current
        }
        guard index > source else { return .former }
        (self.source, lastTimestamp) = (index, nil)
        return .newer
    }

    /// A packet is forwarded.
    /// - Returns: whether none of its timestamp was right before it.
    mutating func forwarded(_ timestamp: Int64) -> Bool {
        defer { lastTimestamp = timestamp }
        return lastTimestamp != timestamp
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
