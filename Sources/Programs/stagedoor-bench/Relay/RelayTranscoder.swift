import CAVCodec
import COpus

/// AAC to Opus by libavcodec's decoder and libopus' encoder, called in turn.
@safe final class RelayTranscoder {
    struct Settings {
        var bitrate: Int32
        var complexity: Int32
    }

    private static let samplesPerPacket = 960
    private static let maximumSamples = 8 * samplesPerPacket
    private static let maximumPacketByteCount = 1_275
    /// libavcodec reads beyond the end.
    private static let paddingByteCount = Int(AV_INPUT_BUFFER_PADDING_SIZE)

    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private let encoder: OpaquePointer
    /// Of two channels in turns, the oldest first.
    private let samples: UnsafeMutablePointer<Float>
    private let opus: UnsafeMutablePointer<UInt8>
    private var sampleCount = 0
    private var timestamp: UInt32 = 0

    /// - Parameter config: an AudioSpecificConfig of stereo.
    init?(config: [UInt8], _ settings: Settings) {
        av_log_set_level(AV_LOG_QUIET)
        guard let codec = unsafe avcodec_find_decoder(AV_CODEC_ID_AAC), let encoder = unsafe Self.makeEncoder(settings)
        else { return nil }
        unsafe self.encoder = encoder
        unsafe (context, packet, frame) = (avcodec_alloc_context3(codec), av_packet_alloc(), av_frame_alloc())
        unsafe samples = .allocate(capacity: Self.maximumSamples * 2)
        unsafe opus = .allocate(capacity: Self.maximumPacketByteCount)
        let extra = unsafe av_mallocz(config.count + Self.paddingByteCount).assumingMemoryBound(to: UInt8.self)
        unsafe extra.update(from: config, count: config.count)
        unsafe context?.pointee.extradata = extra
        unsafe context?.pointee.extradata_size = CInt(config.count)
        guard unsafe avcodec_open2(context, codec, nil) == 0 else { return nil }
    }

    deinit {
        unsafe avcodec_free_context(&context)
        unsafe av_packet_free(&packet)
        unsafe av_frame_free(&frame)
        unsafe opus_encoder_destroy(encoder)
        unsafe samples.deallocate()
        unsafe opus.deallocate()
    }

    private static func makeEncoder(_ settings: Settings) -> OpaquePointer? {
        var status: CInt = 0
        guard let encoder = unsafe opus_encoder_create(48_000, 2, OPUS_APPLICATION_AUDIO, &status),
            unsafe opus_shim_set_bitrate(encoder, settings.bitrate) == OPUS_OK,
            unsafe opus_shim_set_complexity(encoder, settings.complexity) == OPUS_OK
        else { return nil }
        return unsafe encoder
    }

    /// - Parameters:
    ///   - bytes: an AAC frame; what lies behind it is read and does not matter.
    ///   - emit: gets each Opus packet and its time in samples.
    func take(_ bytes: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer, UInt32) -> Void) {
        guard let packet = unsafe packet, let frame = unsafe frame, let base = bytes.baseAddress else { return }
        unsafe packet.pointee.data = UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: UInt8.self)
        unsafe packet.pointee.size = CInt(bytes.count)
        guard unsafe avcodec_send_packet(context, packet) == 0, unsafe avcodec_receive_frame(context, frame) == 0 else { return }
        unsafe interleave(frame)
        unsafe av_frame_unref(frame)
        unsafe encode(emit)
    }

    private func interleave(_ frame: UnsafeMutablePointer<AVFrame>) {
        let count = unsafe min(Int(frame.pointee.nb_samples), Self.maximumSamples - sampleCount)
        guard let planes = unsafe frame.pointee.extended_data, let left = unsafe planes[0], let right = unsafe planes[1]
        else { return }
        let (first, second) = (UnsafeRawPointer(left), UnsafeRawPointer(right))
        for index in 0..<count {
            let place = (sampleCount + index) * 2
            unsafe samples[place] = first.load(fromByteOffset: index * 4, as: Float.self)
            unsafe samples[place + 1] = second.load(fromByteOffset: index * 4, as: Float.self)
        }
        sampleCount += count
    }

    private func encode(_ emit: (UnsafeRawBufferPointer, UInt32) -> Void) {
        while sampleCount >= Self.samplesPerPacket {
            let count = unsafe opus_encode_float(
                encoder, samples, CInt(Self.samplesPerPacket), opus, Int32(Self.maximumPacketByteCount))
            if count > 0 { unsafe emit(UnsafeRawBufferPointer(start: opus, count: Int(count)), timestamp) }
            timestamp &+= UInt32(Self.samplesPerPacket)
            sampleCount -= Self.samplesPerPacket
            unsafe samples.update(from: samples + Self.samplesPerPacket * 2, count: sampleCount * 2)
        }
    }
}
