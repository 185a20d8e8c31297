import COpus
import Settings

/// libopus's encoder at 48 kHz, 20 ms a packet. Confined to one transcoding thread.
@safe final class OpusEncoder {
    /// Samples of a channel in each packet.
    static let samplesPerPacket = 960
    /// No packet of 20 ms is longer (RFC 6716 §3.4): also below what one RTP packet may carry of ours.
    static let maximumPacketByteCount = 1_180

    /// Samples by which the decoder's output lags behind the encoder's input.
    let lookAhead: Int
    private let encoder: OpaquePointer
    private let channelCount: Int

    /// - Throws: `.unsupportedConfiguration`.
    init(channelCount: Int, settings: TranscodingSettings) throws(TranscodingError) {
        var status: CInt = 0
        guard
            let encoder = unsafe opus_encoder_create(
                Int32(AudioAlignment.ticksPerSecond), CInt(channelCount), OPUS_APPLICATION_AUDIO, &status)
        else { throw .unsupportedConfiguration }
        unsafe (self.encoder, self.channelCount) = unsafe (encoder, channelCount)
        let bitrate = channelCount == 1 ? settings.monoBitrate : settings.stereoBitrate
        var lookAhead: Int32 = 0
        let isSet =
            unsafe opus_shim_set_bitrate(encoder, Int32(bitrate)) == OPUS_OK
            && opus_shim_set_complexity(encoder, Int32(settings.complexity)) == OPUS_OK
            && opus_shim_get_lookahead(encoder, &lookAhead) == OPUS_OK
        self.lookAhead = Int(lookAhead)
        guard isSet else { throw .unsupportedConfiguration }
    }

    deinit { unsafe opus_encoder_destroy(encoder) }

    /// Encodes 960 samples a channel, interleaved, behind the bytes of `output`; adds nothing for what libopus refuses.
    func encode(_ samples: UnsafePointer<Float>, into output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: Self.maximumPacketByteCount))
        let count = unsafe output.withUnsafeMutableBufferPointer { buffer in
            guard let bytes = buffer.baseAddress else { return Int32(0) }
            return unsafe opus_encode_float(
                encoder, samples, CInt(Self.samplesPerPacket), bytes + start, Int32(Self.maximumPacketByteCount))
        }
        output.removeLast(Self.maximumPacketByteCount - max(0, Int(count)))
    }
}
