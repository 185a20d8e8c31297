import AAC
import CAVCodec

/// libavcodec's AAC decoder. Owns its contexts; confined to one transcoding thread. Takes about 620 kB.
@safe final class AACDecoder {
    /// Longer frames are refused: 6,144 bits a channel are the most that AAC allows, and some encoders exceed it a little.
    static let maximumFrameByteCount = 8_192

    private let context: UnsafeMutablePointer<AVCodecContext>
    /// Owns its memory by reference count: libavcodec, which keeps a packet until it is decoded, need not copy it then.
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>

    /// - Throws: `.unsupportedConfiguration`, `.outOfMemory`.
    init(_ config: AudioSpecificConfig) throws(TranscodingError) {
        _ = Self.isLogSilenced
        let configuration = config.bytesForDecoders
        guard let codec = unsafe avcodec_find_decoder(AV_CODEC_ID_AAC) else { throw .unsupportedConfiguration }
        guard let context = unsafe avcodec_alloc_context3(codec), let packet = unsafe av_packet_alloc(),
            let frame = unsafe av_frame_alloc(),
            unsafe av_new_packet(packet, CInt(Self.maximumFrameByteCount)) == 0,
            let extradata = unsafe av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw .outOfMemory }
        unsafe (self.context, self.packet, self.frame) = unsafe (context, packet, frame)
        unsafe extradata.copyMemory(from: configuration, byteCount: configuration.count)
        unsafe context.pointee.extradata = unsafe extradata.assumingMemoryBound(to: UInt8.self)
        unsafe context.pointee.extradata_size = CInt(configuration.count)
        unsafe context.pointee.sample_rate = CInt(config.sampleRate)
        unsafe context.pointee.thread_count = 1
        guard unsafe avcodec_open2(context, codec, nil) == 0 else { throw .unsupportedConfiguration }
    }

    deinit {
        var (context, packet, frame): (_?, _?, _?) = unsafe (self.context, self.packet, self.frame)
        unsafe avcodec_free_context(&context)
        unsafe av_packet_free(&packet)
        unsafe av_frame_free(&frame)
    }

    /// Decodes one raw AAC frame and lends what came out: planar floats; nil when the frame cannot be decoded.
    func decode<Result>(_ bytes: UnsafeRawBufferPointer, _ body: (DecodedAudio) -> Result) -> Result? {
        guard unsafe !bytes.isEmpty, bytes.count <= Self.maximumFrameByteCount else { return nil }
        // It stands for the whole of its memory meanwhile, in case libavcodec keeps the last one and it must be made anew.
        unsafe packet.pointee.size = CInt(Self.maximumFrameByteCount)
        guard unsafe av_packet_make_writable(packet) == 0, let input = unsafe packet.pointee.data else { return nil }
        unsafe UnsafeMutableRawBufferPointer(start: input, count: bytes.count).copyMemory(from: bytes)
        unsafe memset(input + bytes.count, 0, Int(AV_INPUT_BUFFER_PADDING_SIZE))
        unsafe packet.pointee.size = CInt(bytes.count)
        guard unsafe avcodec_send_packet(context, packet) == 0, unsafe avcodec_receive_frame(context, frame) == 0 else {
            return nil
        }
        defer { unsafe av_frame_unref(frame) }
        guard unsafe frame.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, unsafe frame.pointee.nb_samples > 0,
            unsafe frame.pointee.ch_layout.nb_channels > 0
        else { return nil }
        return unsafe body(DecodedAudio(frame: frame))
    }

    private static let isLogSilenced: Bool = {
        av_log_set_level(AV_LOG_QUIET)
        return true
    }()
}

/// One decoded frame, lent by the decoder until its next call.
@safe struct DecodedAudio {
    fileprivate let frame: UnsafeMutablePointer<AVFrame>

    var sampleRate: Int { unsafe Int(frame.pointee.sample_rate) }
    var sampleCount: Int { unsafe Int(frame.pointee.nb_samples) }
    var channelCount: Int { unsafe Int(frame.pointee.ch_layout.nb_channels) }

    /// The samples of one channel; a channel that is not there gives the last one that is.
    func plane(_ channel: Int) -> UnsafeBufferPointer<Float> {
        // nb_channels is at least 1, and libavcodec fills one plane for each.
        let plane = unsafe frame.pointee.extended_data[min(channel, channelCount - 1)]!
        return unsafe UnsafeBufferPointer(
            start: UnsafeRawPointer(plane).assumingMemoryBound(to: Float.self), count: sampleCount)
    }
}
