import StageHub
import Wire

/// Packets of one track that go to the sinks together: what a receive batch brought, until something else comes between.
struct GatheredRun {
    private(set) var packets: [MediaPacket] = []
    private(set) var run = MediaRun(track: .video, isKeyframe: false, arrival: .zero)

    init() { packets.reserveCapacity(Self.maximumCount) }

    var isEmpty: Bool { packets.isEmpty }

    /// Whether a packet must wait for this run to go first: another track's, the first of a keyframe, one too many.
    func ends(before track: TrackID, startsKeyframe: Bool) -> Bool {
        !packets.isEmpty && (run.track != track || startsKeyframe || packets.count >= Self.maximumCount)
    }

    /// - Returns: whether it is the first of the run.
    mutating func append(_ packet: MediaPacket, of track: TrackID, startsKeyframe: Bool, at now: MonotonicTime) -> Bool {
        let isFirst = packets.isEmpty
        if isFirst { run = MediaRun(track: track, isKeyframe: startsKeyframe, arrival: now) }
        packets.append(packet)
        return isFirst
    }

    mutating func removeAll() { packets.removeAll(keepingCapacity: true) }

    private static let maximumCount = 64
}
