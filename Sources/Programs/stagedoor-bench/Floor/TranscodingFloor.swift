import CAVCodec
import COpus

/// A file's AAC decoded by libavcodec and encoded by libopus, both called in turn and nothing else.
struct TranscodingFloor {
    private static let samplesPerPacket = 960
    /// libavcodec reads beyond the end.
    private static let padding = [UInt8](repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
    private let config: [UInt8]
    private let frames: [[UInt8]]
    private let bitrate: Int32
    private let complexity: Int32

    init(_ file: FLVFile, bitrate: Int32, complexity: Int32) throws {
        let audio = file.tags.filter { $0.kind == .audio }
        guard let header = audio.first(where: \.isSequenceHeader) else { throw FloorError.noAudio }
        config = Array(header.body.dropFirst(2))
        frames = audio.filter { !$0.isSequenceHeader }.map { Array($0.body.dropFirst(2)) }
        (self.bitrate, self.complexity) = (bitrate, complexity)
    }

    func millisecondsPerSecond() throws -> Double {
        av_log_set_level(AV_LOG_QUIET)
        guard let codec = unsafe avcodec_find_decoder(AV_CODEC_ID_AAC), let context = unsafe avcodec_alloc_context3(codec),
            let packet = unsafe av_packet_alloc(), let frame = unsafe av_frame_alloc(), let encoder = unsafe makeEncoder()
        else { throw FloorError.codec }
        var (freed, freedPacket, freedFrame): (_?, _?, _?) = unsafe (context, packet, frame)
        defer {
            unsafe avcodec_free_context(&freed)
            unsafe av_packet_free(&freedPacket)
            unsafe av_frame_free(&freedFrame)
            unsafe opus_encoder_destroy(encoder)
        }
        guard unsafe open(context, codec) else { throw FloorError.codec }
        var (clock, samples, sampleCount) = (FloorClock(), [Float](), 0)
        for bytes in frames {
            var input = bytes + Self.padding
            let byteCount = bytes.count
            clock.measure {
                unsafe input.withUnsafeMutableBufferPointer { input in
                    unsafe (packet.pointee.data, packet.pointee.size) = (input.baseAddress, CInt(byteCount))
                    guard unsafe avcodec_send_packet(context, packet) == 0 else { return }
                    unsafe sampleCount += Self.receive(frame, context, into: &samples)
                }
                unsafe Self.encode(&samples, encoder)
            }
        }
        guard sampleCount > 0 else { throw FloorError.codec }
        return clock.milliseconds / (Double(sampleCount) / 48_000)
    }

    private func open(_ context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>) -> Bool {
        unsafe context.pointee.extradata = av_mallocz(config.count + Self.padding.count).assumingMemoryBound(to: UInt8.self)
        unsafe context.pointee.extradata?.update(from: config, count: config.count)
        unsafe context.pointee.extradata_size = CInt(config.count)
        return unsafe avcodec_open2(context, codec, nil) == 0
    }

    private func makeEncoder() -> OpaquePointer? {
        var status: CInt = 0
        guard let encoder = unsafe opus_encoder_create(48_000, 2, OPUS_APPLICATION_AUDIO, &status) else { return nil }
        guard unsafe opus_shim_set_bitrate(encoder, bitrate) == OPUS_OK,
            unsafe opus_shim_set_complexity(encoder, complexity) == OPUS_OK
        else { return nil }
        return unsafe encoder
    }

    /// - Returns: how many samples of each channel have come.
    private static func receive(
        _ frame: UnsafeMutablePointer<AVFrame>, _ context: UnsafeMutablePointer<AVCodecContext>, into samples: inout [Float]
    ) -> Int {
        guard unsafe avcodec_receive_frame(context, frame) == 0 else { return 0 }
        defer { unsafe av_frame_unref(frame) }
        unsafe interleave(frame, into: &samples)
        return unsafe Int(frame.pointee.nb_samples)
    }

    /// Stereo, as the file has it.
    private static func interleave(_ frame: UnsafeMutablePointer<AVFrame>, into samples: inout [Float]) {
        guard let planes = unsafe frame.pointee.extended_data, let left = unsafe planes[0], let right = unsafe planes[1]
        else { return }
        let count = unsafe Int(frame.pointee.nb_samples)
        unsafe left.withMemoryRebound(to: Float.self, capacity: count) { left in
            unsafe right.withMemoryRebound(to: Float.self, capacity: count) { right in
                for index in 0..<count {
                    unsafe samples.append(left[index])
                    unsafe samples.append(right[index])
                }
            }
        }
    }

    private static func encode(_ samples: inout [Float], _ encoder: OpaquePointer) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_275) { output in
            guard let packet = output.baseAddress else { return }
            while samples.count >= samplesPerPacket * 2 {
                _ = unsafe opus_encode_float(encoder, samples, CInt(samplesPerPacket), packet, Int32(output.count))
                samples.removeFirst(samplesPerPacket * 2)
            }
        }
    }
}
