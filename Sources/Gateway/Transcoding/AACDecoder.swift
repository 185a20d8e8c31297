import AAC
import CAVCodec

/// libavcodec's AAC decoder. Owns its contexts; confined to one transcoding thread. Takes about 620 kB.
final class AACDecoder {
    /// Longer frames are refused: 6,144 bits a channel are the most that AAC allows, and some encoders exceed it a little.
    static let maximumFrameByteCount = 8_192

    private let context: UnsafeMutablePointer<AVCodecContext>
    /// Owns its memory by reference count: libavcodec, which keeps a packet until it is decoded, need not copy it then.
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>

    /// - Throws: `.unsupportedConfiguration`, `.outOfMemory`.
    init(_ config: AudioSpecificConfig) throws(TranscodingError) {
        _ = Self.isLogSilenced
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_AAC) else { throw .unsupportedConfiguration }
        guard let context = avcodec_alloc_context3(codec), let packet = av_packet_alloc(), let frame = av_frame_alloc(),
            av_new_packet(packet, CInt(Self.maximumFrameByteCount)) == 0,
            let extradata = av_mallocz(config.bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw .outOfMemory }
        (self.context, self.packet, self.frame) = (context, packet, frame)
        extradata.copyMemory(from: config.bytes, byteCount: config.bytes.count)
        context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = CInt(config.bytes.count)
        context.pointee.sample_rate = CInt(config.sampleRate)
        context.pointee.thread_count = 1
        guard avcodec_open2(context, codec, nil) == 0 else { throw .unsupportedConfiguration }
    }

    deinit {
        var (context, packet, frame): (_?, _?, _?) = (self.context, self.packet, self.frame)
        avcodec_free_context(&context)
        av_packet_free(&packet)
        av_frame_free(&frame)
    }

    /// Decodes one raw AAC frame and lends what came out: planar floats; nil when the frame cannot be decoded.
    func decode<Result>(_ bytes: UnsafeRawBufferPointer, _ body: (DecodedAudio) -> Result) -> Result? {
        guard !bytes.isEmpty, bytes.count <= Self.maximumFrameByteCount else { return nil }
        // It stands for the whole of its memory meanwhile, in case libavcodec keeps the last one and it must be made anew.
        packet.pointee.size = CInt(Self.maximumFrameByteCount)
        guard av_packet_make_writable(packet) == 0, let input = packet.pointee.data else { return nil }
        UnsafeMutableRawPointer(input).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)  // not empty
        memset(input + bytes.count, 0, Int(AV_INPUT_BUFFER_PADDING_SIZE))
        packet.pointee.size = CInt(bytes.count)
        guard avcodec_send_packet(context, packet) == 0, avcodec_receive_frame(context, frame) == 0 else { return nil }
        defer { av_frame_unref(frame) }
        guard frame.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, frame.pointee.nb_samples > 0,
            frame.pointee.ch_layout.nb_channels > 0
        else { return nil }
        return body(DecodedAudio(frame: frame))
    }

    private static let isLogSilenced: Bool = {
        av_log_set_level(AV_LOG_QUIET)
        return true
    }()
}

/// One decoded frame, lent by the decoder until its next call.
struct DecodedAudio {
    fileprivate let frame: UnsafeMutablePointer<AVFrame>

    var sampleRate: Int { Int(frame.pointee.sample_rate) }
    var sampleCount: Int { Int(frame.pointee.nb_samples) }
    var channelCount: Int { Int(frame.pointee.ch_layout.nb_channels) }

    /// The samples of one channel; a channel that is not there gives the last one that is.
    func plane(_ channel: Int) -> UnsafeBufferPointer<Float> {
        // nb_channels is at least 1, and libavcodec fills one plane for each.
        let plane = frame.pointee.extended_data[min(channel, channelCount - 1)]!
        return UnsafeBufferPointer(
            start: UnsafeRawPointer(plane).assumingMemoryBound(to: Float.self), count: sampleCount)
    }
}
