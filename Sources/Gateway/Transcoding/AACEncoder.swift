import CAVCodec

/// libavcodec's own encoder of AAC-LC at 48 kHz. Owns its contexts; confined to one transcoding thread.
@safe final class AACEncoder {
    /// Samples of a channel in each frame.
    static let samplesPerFrame = 1_024
    /// A channel's bits a second: more than most send as Opus, so that little is lost of it.
    private static let bitratePerChannel = 80_000

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let channelCount: Int

    /// - Parameter channelCount: 1 or 2.
    /// - Throws: `.unsupportedConfiguration` where this libavcodec was built without it, `.outOfMemory`.
    init(channelCount: Int) throws(TranscodingError) {
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_AAC) else { throw .unsupportedConfiguration }
        guard let context = unsafe avcodec_alloc_context3(codec), let packet = unsafe av_packet_alloc(),
            let frame = unsafe av_frame_alloc()
        else { throw .outOfMemory }
        unsafe (self.context, self.packet, self.frame, self.channelCount) = unsafe (context, packet, frame, channelCount)
        unsafe av_channel_layout_default(&context.pointee.ch_layout, CInt(channelCount))
        unsafe context.pointee.sample_rate = CInt(AudioAlignment.ticksPerSecond)
        unsafe context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe context.pointee.bit_rate = Int64(Self.bitratePerChannel * channelCount)
        unsafe context.pointee.time_base = AVRational(num: 1, den: CInt(AudioAlignment.ticksPerSecond))
        // The parameters stand in the file's description, not in each frame.
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        unsafe context.pointee.thread_count = 1
        guard unsafe avcodec_open2(context, codec, nil) == 0 else { throw .unsupportedConfiguration }
        unsafe frame.pointee.nb_samples = CInt(Self.samplesPerFrame)
        unsafe frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe av_channel_layout_default(&frame.pointee.ch_layout, CInt(channelCount))
        guard unsafe av_frame_get_buffer(frame, 0) == 0 else { throw .outOfMemory }
    }

    deinit {
        var (context, packet, frame): (_?, _?, _?) = unsafe (self.context, self.packet, self.frame)
        unsafe avcodec_free_context(&context)
        unsafe av_packet_free(&packet)
        unsafe av_frame_free(&frame)
    }

    /// Encodes 1,024 samples a channel, interleaved, and lends the frames that come out, with the times of their first samples:
    /// one for each, a frame's length later than it.
    func encode(_ samples: UnsafePointer<Float>, at time: Int64, _ body: (UnsafeRawBufferPointer, _ time: Int64) -> Void) {
        guard unsafe av_frame_make_writable(frame) == 0 else { return }
        for channel in 0..<channelCount {
            guard let plane = unsafe frame.pointee.extended_data[channel] else { return }
            unsafe plane.withMemoryRebound(to: Float.self, capacity: Self.samplesPerFrame) { plane in
                for index in 0..<Self.samplesPerFrame {
                    unsafe plane[index] = unsafe samples[index * channelCount + channel]
                }
            }
        }
        unsafe frame.pointee.pts = time
        guard unsafe avcodec_send_frame(context, frame) == 0 else { return }
        while unsafe avcodec_receive_packet(context, packet) == 0 {
            unsafe body(UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)), packet.pointee.pts)
            unsafe av_packet_unref(packet)
        }
    }
}
