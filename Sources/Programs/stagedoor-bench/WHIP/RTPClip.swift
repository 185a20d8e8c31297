import H264
import RTP
import Wire

/// Prepared FLV files cut into RTP payloads once, for all publishers: the video of each as a layer,
/// and Opus packets made up beside.
struct RTPClip {
    enum Track { case video, audio }

    struct Packet {
        var track: Track
        /// Of video, in the order of the files.
        var layer = 0
        /// When to send it, nanoseconds since the clip's beginning.
        var due: Int64
        /// RTP time since the clip's beginning.
        var timestamp: UInt32
        var isLast: Bool
        /// The first of a picture that a decoder can start with.
        var startsKeyframe = false
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
    init(_ layers: [FLVFile], isPaced: Bool, isMarked: Bool) throws {
        duration = layers.first?.duration ?? 0
        for (layer, file) in layers.enumerated() { try addVideo(of: file, layer: layer, isPaced: isPaced, isMarked: isMarked) }
        addAudio()
        // Sorted by time and, at one time, in the order made: a frame's packets stay together.
        packets = packets.enumerated().sorted { ($0.element.due, $0.offset) < ($1.element.due, $1.offset) }.map(\.element)
    }

    /// What a layer has beyond the first one's length is left out.
    private mutating func addVideo(of file: FLVFile, layer: Int, isPaced: Bool, isMarked: Bool) throws {
        let tags = file.tags.filter {
            $0.kind == .video && $0.body.count > Self.tagHeadByteCount && $0.timestamp < duration
        }
        let frameCount = tags.count { !$0.isSequenceHeader }
        let interval = frameCount == 0 ? 0 : Double(file.duration) * 1_000_000 / Double(frameCount)
        var record: AVCDecoderConfigurationRecord?
        for tag in tags {
            if tag.isSequenceHeader {
                record = unsafe try AVCDecoderConfigurationRecord(parsing: Array(tag.body[Self.tagHeadByteCount...]).span.bytes)
                continue
            }
            guard let record else { throw Fault.noVideo }
            try addFrame(tag, of: layer, record, over: isPaced ? interval * Self.pacedShare : 0, isMarked: isMarked)
        }
        guard record != nil else { throw Fault.noVideo }
    }

    /// - Parameter time: nanoseconds over which the frame's packets are spread.
    private mutating func addFrame(
        _ tag: FLVFile.Tag, of layer: Int, _ record: AVCDecoderConfigurationRecord, over time: Double, isMarked: Bool
    ) throws {
        let body = isMarked ? LatencyMark.inserted(into: tag.body) : tag.body
        let payloads = try Self.payloads(of: body, isKeyframe: tag.isKeyframe, record)
        let step = time / Double(payloads.count)
        let timestamp = UInt32(truncatingIfNeeded: (tag.timestamp + Self.compositionTime(of: tag.body)) * 90)
        for (index, payload) in payloads.enumerated() {
            packets.append(
                Packet(
                    track: .video, layer: layer, due: Int64(tag.timestamp) * 1_000_000 + Int64(step * Double(index)),
                    timestamp: timestamp, isLast: index == payloads.count - 1, startsKeyframe: tag.isKeyframe && index == 0,
                    payload: payload,
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
