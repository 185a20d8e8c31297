import CAVCodec
import CSWResample

/// libswresample from the source's rate to 48 kHz, planar to interleaved. Confined to one transcoding thread.
///
/// Its output is aligned with its input: sample 0 is sample 0, and what the filter holds back comes with the next block.
final class SampleRateConverter {
    private let context: OpaquePointer
    private let sampleRate: Int
    private let channelCount: Int
    private var output: [Float] = []

    /// - Throws: `.unsupportedConfiguration`.
    init(from sampleRate: Int, channelCount: Int) throws(TranscodingError) {
        (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
        var (input, output) = (AVChannelLayout(), AVChannelLayout())
        av_channel_layout_default(&input, CInt(channelCount))
        av_channel_layout_default(&output, CInt(channelCount))
        var context: OpaquePointer?
        let status = swr_alloc_set_opts2(
            &context, &output, AV_SAMPLE_FMT_FLT, CInt(AudioAlignment.ticksPerSecond), &input, AV_SAMPLE_FMT_FLTP,
            CInt(sampleRate), 0, nil)
        guard status == 0, let context, swr_init(context) == 0 else {
            swr_free(&context)
            throw .unsupportedConfiguration
        }
        self.context = context
    }

    deinit {
        var context: OpaquePointer? = context
        swr_free(&context)
    }

    /// Samples at 48 kHz that went in and have not come out.
    var heldSampleCount: Int { Int(swr_get_delay(context, AudioAlignment.ticksPerSecond)) }

    /// Converts one frame; the lent samples are interleaved and valid in `body` only.
    func convert(_ audio: DecodedAudio, _ body: (UnsafeBufferPointer<Float>) -> Void) {
        let room = Int(swr_get_out_samples(context, CInt(audio.sampleCount)))
        if output.count < room * channelCount { output = Array(repeating: 0, count: room * channelCount) }
        let made = output.withUnsafeMutableBytes { bytes in
            var planes: InlineArray<2, UnsafePointer<UInt8>?> = [Self.bytes(audio.plane(0)), Self.bytes(audio.plane(1))]
            var destination: UnsafeMutablePointer<UInt8>? = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return withUnsafeMutableBytes(of: &planes) { planes in
                let input = planes.baseAddress?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
                return Int(swr_convert(context, &destination, CInt(room), input, CInt(audio.sampleCount)))
            }
        }
        guard made > 0 else { return }
        output.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<(made * channelCount)])) }
    }

    private static func bytes(_ plane: UnsafeBufferPointer<Float>) -> UnsafePointer<UInt8>? {
        UnsafeRawPointer(plane.baseAddress)?.assumingMemoryBound(to: UInt8.self)
    }
}
