import CAVCodec

/// libavcodec's H.264 decoder, for one keyframe at a time: it needs no picture before it. Each has a decoder of its own, so that
/// what a damaged one leaves behind reaches no other.
enum KeyframeDecoder {
    /// Larger pictures are refused: 4,096 by 2,304, as much as H.264's level 5.1 allows.
    static let maximumPixelCount = 4_096 * 2_304

    /// Decodes one access unit and lends the picture; nil when none comes out, or none that a JPEG is made of (8 bits, 4:2:0).
    /// - Parameter unit: parameter sets and slices behind start codes (H.264 Annex B).
    static func decode<Result>(_ unit: [UInt8], _ body: (DecodedPicture) -> Result?) -> Result? {
        _ = isLogSilenced
        guard let codec = unsafe avcodec_find_decoder(AV_CODEC_ID_H264) else { return nil }
        var (context, packet, frame) = unsafe (avcodec_alloc_context3(codec), av_packet_alloc(), av_frame_alloc())
        defer {
            unsafe avcodec_free_context(&context)
            unsafe av_packet_free(&packet)
            unsafe av_frame_free(&frame)
        }
        guard let context = unsafe context, let packet = unsafe packet, let frame = unsafe frame else { return nil }
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.max_pixels = Int64(maximumPixelCount)
        guard unsafe avcodec_open2(context, codec, nil) == 0, unsafe fill(packet, with: unit),
            // The second one says that no more comes: the decoder waits for nothing then.
            unsafe avcodec_send_packet(context, packet) == 0, unsafe avcodec_send_packet(context, nil) == 0,
            unsafe avcodec_receive_frame(context, frame) == 0, let picture = unsafe DecodedPicture(frame)
        else { return nil }
        return body(picture)
    }

    /// The packet owns its memory, with the padding that decoders read behind it.
    private static func fill(_ packet: UnsafeMutablePointer<AVPacket>, with unit: [UInt8]) -> Bool {
        guard !unit.isEmpty, unsafe av_new_packet(packet, CInt(clamping: unit.count)) == 0, let data = unsafe packet.pointee.data
        else { return false }
        unsafe UnsafeMutableRawBufferPointer(start: data, count: unit.count).copyBytes(from: unit)
        return true
    }

    private static let isLogSilenced: Bool = {
        av_log_set_level(AV_LOG_QUIET)
        return true
    }()
}

/// One decoded picture, lent for the time of a call: 8 bits, chroma of half the width and height.
@safe struct DecodedPicture {
    private let frame: UnsafeMutablePointer<AVFrame>

    fileprivate init?(_ frame: UnsafeMutablePointer<AVFrame>) {
        unsafe self.frame = unsafe frame
        let format = unsafe frame.pointee.format
        guard format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue,
            unsafe frame.pointee.decode_error_flags == 0, unsafe frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0,
            width > 0, height > 0, width.isMultiple(of: 2), height.isMultiple(of: 2)
        else { return nil }
    }

    var width: Int { unsafe Int(frame.pointee.width) }
    var height: Int { unsafe Int(frame.pointee.height) }
    /// From 0 to 255, in place of 16 to 235.
    var isFullRange: Bool {
        unsafe frame.pointee.format == AV_PIX_FMT_YUVJ420P.rawValue || frame.pointee.color_range == AVCOL_RANGE_JPEG
    }
    /// High definition's matrix, in place of BT.601's.
    var isBT709: Bool { unsafe frame.pointee.colorspace == AVCOL_SPC_BT709 }

    /// A row of luma (0), Cb (1) or Cr (2).
    func row(_ row: Int, of plane: Int) -> UnsafePointer<UInt8> {
        // A picture of this format has three planes.
        switch plane {
        case 0: unsafe UnsafePointer(frame.pointee.data.0! + row * Int(frame.pointee.linesize.0))
        case 1: unsafe UnsafePointer(frame.pointee.data.1! + row * Int(frame.pointee.linesize.1))
        default: unsafe UnsafePointer(frame.pointee.data.2! + row * Int(frame.pointee.linesize.2))
        }
    }
}
