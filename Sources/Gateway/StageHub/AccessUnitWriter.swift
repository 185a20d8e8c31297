import RTP
public import Wire

/// Writes an encoder's H.264 access units to a publication as RTP packets, numbered without gaps (RTMP's way into the hub).
public final class AccessUnitWriter {
    /// The access unit at hand, and the number of the packet after its last.
    private struct Output {
        var packets: [MediaPacket] = []
        var nextSequenceNumber: Int64 = 0

        mutating func append(_ payload: H264Payload, timestamp: Int64) {
            packets.append(
                MediaPacket(
                    sequenceNumber: nextSequenceNumber, timestamp: timestamp, marker: payload.isLast, head: payload.head,
                    headCount: payload.headCount, payload: payload.body))
            nextSequenceNumber += 1
        }
    }

    private unowned let publication: Publication
    private var packetizer = H264Packetizer()
    private var output = Output()

    public init(publication: Publication) {
        self.publication = publication
        output.packets.reserveCapacity(512)  // the biggest frames measured: 264 packets
    }

    /// Takes new parameter sets, and tells the sinks of the first of each.
    /// - Parameter others: further ones that must stand before IDR pictures too, sequence parameter sets first.
    public func setParameterSets(sps: [UInt8], pps: [UInt8], others: [[UInt8]] = []) {
        packetizer.setParameterSets([sps] + others + [pps])
        publication.setFormat(.h264(sps: sps, pps: pps), of: .video)
    }

    /// Forwards one access unit.
    /// - Parameters:
    ///   - nalUnits: without start codes and lengths, in decoding order; they stay valid until this returns.
    ///   - mediaTime: what `Timeline.place` answered, plus the composition time.
    public func write(
        _ nalUnits: [UnsafeRawBufferPointer], at mediaTime: Duration, isKeyframe: Bool, arrival: MonotonicTime
    ) {
        let timestamp = mediaTime.timestamp(for: .video)
        // Out of the object while it is filled: no checked access to it for every packet.
        var output = Output()
        swap(&output, &self.output)
        output.packets.removeAll(keepingCapacity: true)
        for nalUnit in nalUnits { packetizer.append(nalUnit) { output.append($0, timestamp: timestamp) } }
        packetizer.finish { output.append($0, timestamp: timestamp) }
        let run = MediaRun(track: .video, isKeyframe: isKeyframe, arrival: arrival)
        output.packets.withUnsafeBufferPointer { publication.forward($0, of: run) }
        swap(&output, &self.output)
    }
}
