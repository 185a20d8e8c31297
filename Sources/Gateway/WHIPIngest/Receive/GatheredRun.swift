import StageHub
import Wire

/// Packets of one track that go to the sinks together: what a receive batch brought, until something else comes between.
struct GatheredRun {
    private(set) var packets: [MediaPacket] = []
    private(set) var run = MediaRun(track: .video, isKeyframe: false, arrival: .zero)
    private var byteCount = 0
    private var frameCount = 0
    private let room: RunRoom

    /// - Parameter room: its worker's.
    init(in room: RunRoom) { self.room = room }

    var isEmpty: Bool { packets.isEmpty }

    /// What has become of a packet that was to be added.
    enum Addition { case first, further, mustWait }

    /// Adds a packet, unless it must wait until this run has gone: of another track or layer, the
    /// first of a keyframe, one too many.
    mutating func append(_ packet: MediaPacket, of track: TrackID, startsKeyframe: Bool, at now: MonotonicTime) -> Addition {
        if packets.isEmpty {
            run = MediaRun(track: track, isKeyframe: startsKeyframe, arrival: now)
            packets = room.take()
        } else if run.track != track || startsKeyframe || packets.count >= Self.maximumCount {
            return .mustWait
        }
        unsafe byteCount += packet.payload.count
        if packet.endsFrame(of: track) { frameCount += 1 }
        packets.append(packet)
        return packets.count == 1 ? .first : .further
    }

    /// Counts its packets, all at once.
    func count(in counters: PublishCounters) {
        let track = counters[run.track]
        track.bytes.add(byteCount)
        track.packets.add(packets.count)
        track.frames.add(frameCount)
    }

    mutating func removeAll() {
        room.giveBack(&packets)
        (byteCount, frameCount) = (0, 0)
    }

    private static let maximumCount = 64
}

/// Room for the packets of runs, shared by all sessions of a worker: each needs it only from its first packet in a batch to the
/// batch's end, and room of its own would stay as large as its longest run was.
final class RunRoom {
    private var free: [[MediaPacket]] = []

    func take() -> [MediaPacket] { free.popLast() ?? [] }

    func giveBack(_ packets: inout [MediaPacket]) {
        guard !packets.isEmpty else { return }
        packets.removeAll(keepingCapacity: true)
        free.append(packets)
        packets = []
    }
}
