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
    /// Frame type and codec, packet type, composition time (FLV E.4.3.1).
    private static let tagHeadByteCount = 5

    /// - Parameter isPaced: the packets of a frame leave spread over most of its time, and at once otherwise.
    init(_ file: FLVFile, isPaced: Bool, isMarked: Bool) throws {
        duration = file.duration
        let tags = file.tags.filter { $0.kind == .video && $0.body.count > Self.tagHeadByteCount }
        let frameCount = tags.count { !$0.isSequenceHeader }
        let interval = frameCount == 0 ? 0 : Double(file.duration) * 1_000_000 / Double(frameCount)
        var record: AVCDecoderConfigurationRecord?
        for tag in tags {
            if tag.isSequenceHeader {
                record = unsafe try AVCDecoderConfigurationRecord(parsing: Array(tag.body[Self.tagHeadByteCount...]).span.bytes)
                continue
            }
            guard let record else { throw Fault.noVideo }
            try addFrame(tag, record, over: isPaced ? interval * Self.pacedShare : 0, isMarked: isMarked)
        }
        guard record != nil else { throw Fault.noVideo }
        addAudio()
        // Sorted by time and, at one time, in the order made: a frame's packets stay together.
        packets = packets.enumerated().sorted { ($0.element.due, $0.offset) < ($1.element.due, $1.offset) }.map(\.element)
    }

    /// - Parameter time: nanoseconds over which the frame's packets are spread.
    private mutating func addFrame(
        _ tag: FLVFile.Tag, _ record: AVCDecoderConfigurationRecord, over time: Double, isMarked: Bool
    ) throws {
        let body = isMarked ? LatencyMark.inserted(into: tag.body) : tag.body
        let payloads = try Self.payloads(of: body, isKeyframe: tag.body[0] >> 4 == 1, record)
        let step = time / Double(payloads.count)
        let timestamp = UInt32(truncatingIfNeeded: (tag.timestamp + Self.compositionTime(of: tag.body)) * 90)
        for (index, payload) in payloads.enumerated() {
            packets.append(
                Packet(
                    track: .video, due: Int64(tag.timestamp) * 1_000_000 + Int64(step * Double(index)),
                    timestamp: timestamp, isLast: index == payloads.count - 1, payload: payload,
                    markOffset: isMarked ? LatencyMark.numberOffset(in: payload) : nil))
        }
    }

    private mutating func addAudio() {
        for time in stride(from: 0, to: duration, by: Self.opusMilliseconds) {
            packets.append(
                Packet(
                    track: .audio, due: Int64(time) * 1_000_000, timestamp: UInt32(truncatingIfNeeded: time * 48),
                    isLast: false, payload: Self.opusPacket))
        }
    }

    /// Milliseconds from decoding to showing a picture, as its RTP time has it: not 0 where there are B-frames.
    private static func compositionTime(of body: [UInt8]) -> Int {
        let bits = UInt32(body[2]) << 24 | UInt32(body[3]) << 16 | UInt32(body[4]) << 8
        return Int(Int32(bitPattern: bits) >> 8)
    }

    /// Parameter sets stand before every keyframe, as hardware encoders send them, where it has none of its own.
    private static func payloads(
        of body: [UInt8], isKeyframe: Bool, _ record: AVCDecoderConfigurationRecord
    ) throws -> [[UInt8]] {
        var packetizer = H264Packetizer()
        var payloads: [[UInt8]] = []
        func keep(_ payload: H264Payload) {
            let head = (0..<Int(payload.headCount)).map { UInt8(truncatingIfNeeded: payload.head >> ($0 * 8)) }
            unsafe payloads.append(head + payload.body)
        }
        if isKeyframe, try !carriesParameterSets(body, lengthSize: record.lengthSize) {
            for set in record.sequenceParameterSets + record.pictureParameterSets {
                // `emit` runs one payload behind: each set ends its own turn, so that its bytes are still there.
                unsafe set.withUnsafeBytes {
                    unsafe packetizer.append($0, emit: keep); packetizer.finish(emit: keep)
                }
            }
        }
        try unsafe body.withUnsafeBytes { bytes in
            var units = unsafe AVCCUnits(
                UnsafeRawBufferPointer(rebasing: bytes[tagHeadByteCount...]), lengthSize: record.lengthSize)
            while let unit = try unsafe units.next() { unsafe packetizer.append(unit, emit: keep) }
            packetizer.finish(emit: keep)
        }
        return payloads
    }

    private static func carriesParameterSets(_ body: [UInt8], lengthSize: Int) throws -> Bool {
        try unsafe body.withUnsafeBytes { bytes in
            var units = unsafe AVCCUnits(UnsafeRawBufferPointer(rebasing: bytes[tagHeadByteCount...]), lengthSize: lengthSize)
            while let unit = try unsafe units.next() {
                if unsafe NALUnitHeader(unit[0]).type == .sequenceParameterSet { return true }
            }
            return false
        }
    }

    enum Fault: Error { case noVideo }
}
