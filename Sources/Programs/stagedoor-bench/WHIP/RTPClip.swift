import H264
import RTP
import Wire

/// A prepared FLV file cut into RTP payloads once, for all publishers: its video, and Opus packets made up beside it.
struct RTPClip {
    enum Track { case video, audio }

    struct Packet {
        var track: Track
        /// When to send it, nanoseconds since the clip's beginning.
        var due: Int64
        /// RTP time since the clip's beginning.
        var timestamp: UInt32
        var isLast: Bool
        var payload: [UInt8]
        /// Where a latency mark's number goes.
        var markOffset: Int?
    }

    /// In the order of `due`.
    private(set) var packets: [Packet] = []
    /// Milliseconds from the first packet to the first one of the next repetition.
    let duration: Int

    /// 20 ms of stereo CELT, full band (RFC 6716 §3.1), at 64 kbit/s.
    private static let opusPacket: [UInt8] = [31 << 3 | 4] + (1..<160).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    private static let opusMilliseconds = 20
    /// A pacer is done before the next frame comes.
    private static let pacedShare = 0.8

    /// - Parameter isPaced: the packets of a frame leave spread over most of its time, and at once otherwise.
    init(_ file: FLVFile, isPaced: Bool, isMarked: Bool) throws {
        duration = file.duration
        guard let header = file.tags.first(where: { $0.kind == .video && $0.isSequenceHeader }) else { throw Fault.noVideo }
        let record = try AVCDecoderConfigurationRecord(parsing: Array(header.body.dropFirst(5)).span.bytes)
        let frames = file.tags.filter { $0.kind == .video && !$0.isSequenceHeader && $0.body.count > 5 }
        let interval = frames.isEmpty ? 0 : Double(file.duration) * 1_000_000 / Double(frames.count)
        for frame in frames {
            let body = isMarked ? LatencyMark.inserted(into: frame.body) : frame.body
            let payloads = try Self.payloads(of: body, isKeyframe: frame.body[0] >> 4 == 1, record)
            let step = isPaced ? interval * Self.pacedShare / Double(payloads.count) : 0
            for (index, payload) in payloads.enumerated() {
                packets.append(
                    Packet(
                        track: .video, due: Int64(frame.timestamp) * 1_000_000 + Int64(step * Double(index)),
                        timestamp: UInt32(truncatingIfNeeded: frame.timestamp * 90), isLast: index == payloads.count - 1,
                        payload: payload, markOffset: isMarked ? LatencyMark.numberOffset(in: payload) : nil))
            }
        }
        for time in stride(from: 0, to: duration, by: Self.opusMilliseconds) {
            packets.append(
                Packet(
                    track: .audio, due: Int64(time) * 1_000_000, timestamp: UInt32(truncatingIfNeeded: time * 48),
                    isLast: false, payload: Self.opusPacket))
        }
        // Sorted by time and, at one time, in the order made: a frame's packets stay together.
        packets = packets.enumerated().sorted { ($0.element.due, $0.offset) < ($1.element.due, $1.offset) }.map(\.element)
    }

    /// Parameter sets stand before every keyframe, as hardware encoders send them.
    private static func payloads(
        of body: [UInt8], isKeyframe: Bool, _ record: AVCDecoderConfigurationRecord
    ) throws -> [[UInt8]] {
        var packetizer = H264Packetizer()
        var payloads: [[UInt8]] = []
        func keep(_ payload: H264Payload) {
            let head = (0..<Int(payload.headCount)).map { UInt8(truncatingIfNeeded: payload.head >> ($0 * 8)) }
            payloads.append(head + payload.body)
        }
        if isKeyframe {
            for set in record.sequenceParameterSets + record.pictureParameterSets {
                // `emit` runs one payload behind: each set ends its own turn, so that its bytes are still there.
                set.withUnsafeBytes {
                    packetizer.append($0, emit: keep); packetizer.finish(emit: keep)
                }
            }
        }
        try body.withUnsafeBytes { bytes in
            var units = AVCCUnits(UnsafeRawBufferPointer(rebasing: bytes[5...]), lengthSize: record.lengthSize)
            while let unit = try units.next() { packetizer.append(unit, emit: keep) }
            packetizer.finish(emit: keep)
        }
        return payloads
    }

    enum Fault: Error { case noVideo }
}
