import RTP
import StageHub
import Wire

/// Writes H.264 access units to one of a publication's layers as RTP packets, numbered without gaps.
final class AccessUnitWriter {
    let track: TrackID
    private let publication: Publication
    private var packetizer = H264Packetizer()
    private let scratch: PacketScratch
    private var nextSequenceNumber: Int64 = 0
    /// Of an encoder whose pictures come in several messages.
    private var held: HeldPacket?

    /// - Parameter scratch: where packets lie while they are forwarded; one serves all writers of a thread.
    init(publication: Publication, track: TrackID, scratch: PacketScratch) {
        (self.publication, self.track, self.scratch) = (publication, track, scratch)
    }

    /// Something has been written.
    var isInUse: Bool { nextSequenceNumber > 0 }

    /// Takes new parameter sets, and tells the sinks of the first of each.
    /// - Parameter others: further ones that must stand before IDR pictures too, sequence parameter sets first.
    func setParameterSets(sps: [UInt8], pps: [UInt8], others: [[UInt8]]) {
        packetizer.setParameterSets([sps] + others + [pps])
        publication.setFormat(.h264(sps: sps, pps: pps), of: track)
    }

    /// Forwards one access unit, or a part of one.
    /// - Parameters:
    ///   - nalUnits: without start codes and lengths, in decoding order; they stay valid until this returns.
    ///   - mediaTime: what `Timeline.place` answered, plus the composition time.
    ///   - holdsBack: more of the picture may follow: the last packet goes out with the next message.
    func write(
        _ nalUnits: [UnsafeRawBufferPointer], at mediaTime: Duration, isKeyframe: Bool, part: PictureParts.Part, holdsBack: Bool,
        arrival: MonotonicTime
    ) {
        if part == .first { forwardHeld(arrival: arrival) }
        let timestamp = mediaTime.timestamp(for: .video)
        var sequenceNumber = nextSequenceNumber
        var run = MediaRun(track: track, isKeyframe: isKeyframe, arrival: arrival)
        scratch.withPackets { packets in
            if let held, let packet = held.take() {
                packets.append(packet)
                packets[0].marker = false
                if held.startsKeyframe { run.isKeyframe = true }
            }
            unsafe packetizer.cut(nalUnits, goesOn: part == .furtherSlices) { payload in
                unsafe packets.append(
                    MediaPacket(
                        sequenceNumber: sequenceNumber, timestamp: timestamp, marker: payload.isLast, head: payload.head,
                        headCount: payload.headCount, payload: payload.body))
                sequenceNumber += 1
            }
            nextSequenceNumber = sequenceNumber
            let last = holdsBack ? packets.popLast() : nil
            if !packets.isEmpty { unsafe packets.withUnsafeBufferPointer { unsafe publication.forward($0, of: run) } }
            if let last { hold(last, startsKeyframe: run.isKeyframe && packets.isEmpty) }
        }
    }

    /// Once what was held back before has gone: it lay where this one does.
    private func hold(_ packet: MediaPacket, startsKeyframe: Bool) {
        let held = held ?? HeldPacket()
        self.held = held
        held.keep(packet, startsKeyframe: startsKeyframe)
    }

    /// It was the last of its picture, as its marker says.
    private func forwardHeld(arrival: MonotonicTime) {
        guard let held, let packet = held.take() else { return }
        let run = MediaRun(track: track, isKeyframe: held.startsKeyframe, arrival: arrival)
        unsafe withUnsafePointer(to: packet) { unsafe publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run) }
    }
}

/// The last packet of a message: whether it ends its picture, the next message shows. Confined.
@safe private final class HeldPacket {
    /// Its payload lies in `memory`.
    private var packet: MediaPacket?
    private(set) var startsKeyframe = false
    private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: H264Packetizer.maximumPayloadByteCount, alignment: 16)

    deinit { unsafe memory.deallocate() }

    func keep(_ packet: MediaPacket, startsKeyframe: Bool) {
        self.packet = unsafe packet.copied(into: memory)
        self.startsKeyframe = startsKeyframe
    }

    /// The packet, valid until the next one is kept.
    func take() -> MediaPacket? {
        defer { packet = nil }
        return packet
    }
}

/// Room for the packets of one access unit, for all writers of a thread: what many share stays in the caches. Confined.
final class PacketScratch {
    private var packets: [MediaPacket] = []

    init() {
        packets.reserveCapacity(512)  // the biggest frames measured: 264 packets
    }

    /// Lends the room, empty. Out of the object meanwhile: no checked access to it for every packet.
    @inline(__always)
    fileprivate func withPackets(_ body: (inout [MediaPacket]) -> Void) {
        var packets = self.packets
        self.packets = []
        packets.removeAll(keepingCapacity: true)
        body(&packets)
        self.packets = packets
    }
}
