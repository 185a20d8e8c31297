import CAVCodec
import CSWResample

/// libswresample from the source's rate to 48 kHz, planar to interleaved. Confined to one transcoding thread.
///
/// Its output is aligned with its input: sample 0 is sample 0, and what the filter holds back comes with the next block.
@safe final class SampleRateConverter {
    private let context: OpaquePointer
    private let sampleRate: Int
    private let channelCount: Int
    private var output: [Float] = []

    /// - Throws: `.unsupportedConfiguration`.
    init(from sampleRate: Int, channelCount: Int) throws(TranscodingError) {
        (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
        var (input, output) = unsafe (AVChannelLayout(), AVChannelLayout())
        unsafe av_channel_layout_default(&input, CInt(channelCount))
        unsafe av_channel_layout_default(&output, CInt(channelCount))
        var context: OpaquePointer?
        let status = unsafe swr_alloc_set_opts2(
            &context, &output, AV_SAMPLE_FMT_FLT, CInt(AudioAlignment.ticksPerSecond), &input, AV_SAMPLE_FMT_FLTP,
            CInt(sampleRate), 0, nil)
        guard status == 0, let opened = unsafe context, unsafe swr_init(opened) == 0 else {
            unsafe swr_free(&context)
            throw .unsupportedConfiguration
        }
        unsafe self.context = opened
    }

    deinit {
        var context: OpaquePointer? = unsafe context
        unsafe swr_free(&context)
    }

    /// Samples at 48 kHz that went in and have not come out.
    var heldSampleCount: Int { unsafe Int(swr_get_delay(context, AudioAlignment.ticksPerSecond)) }

    /// Converts one frame; the lent samples are interleaved and valid in `body` only.
    func convert(_ audio: DecodedAudio, _ body: (UnsafeBufferPointer<Float>) -> Void) {
        let room = unsafe Int(swr_get_out_samples(context, CInt(audio.sampleCount)))
        if output.count < room * channelCount { output = Array(repeating: 0, count: room * channelCount) }
        let made = unsafe output.withUnsafeMutableBytes { bytes in
            var planes: InlineArray<2, UnsafePointer<UInt8>?> = unsafe [Self.bytes(audio.plane(0)), Self.bytes(audio.plane(1))]
            var destination: UnsafeMutablePointer<UInt8>? = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe withUnsafeMutableBytes(of: &planes) { planes in
                let input = unsafe planes.baseAddress?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
                return unsafe Int(swr_convert(context, &destination, CInt(room), input, CInt(audio.sampleCount)))
            }
        }
        guard made > 0 else { return }
        unsafe output.withUnsafeBufferPointer { unsafe body(UnsafeBufferPointer(rebasing: $0[..<(made * channelCount)])) }
    }

    private static func bytes(_ plane: UnsafeBufferPointer<Float>) -> UnsafePointer<UInt8>? {
        unsafe UnsafeRawPointer(plane.baseAddress)?.assumingMemoryBound(to: UInt8.self)
    }
}

/// Makes a block of samples a few longer or shorter without a seam: both ends stay where they are.
enum SampleStretching {
    /// Appends `count + correction` samples interpolated from `block` (Catmull-Rom through four neighbours).
    ///
    /// - Parameters:
    ///   - block: interleaved samples of `channelCount` channels.
    ///   - correction: samples to add; the caller keeps it below 0.2 % of the block.
    static func append(
        _ block: UnsafeBufferPointer<Float>, channelCount: Int, correction: Int, to output: inout [Float]
    ) {
        let count = block.count / channelCount
        guard correction != 0, count > 4, count + correction > 0 else { return unsafe output.append(contentsOf: block) }
        let step = Double(count) / Double(count + correction)
        for index in 0..<(count + correction) {
            let position = Double(index) * step
            let whole = Int(position)
            let fraction = Float(position - Double(whole))
            for channel in 0..<channelCount {
                func sample(_ offset: Int) -> Float {
                    unsafe block[min(max(whole + offset, 0), count - 1) * channelCount + channel]
                }
                output.append(interpolate(sample(-1), sample(0), sample(1), sample(2), at: fraction))
            }
        }
    }

    private static func interpolate(_ a: Float, _ b: Float, _ c: Float, _ d: Float, at t: Float) -> Float {
        let slopes = (c - a, d - b)
        let cubic = 2 * (b - c) + (slopes.0 + slopes.1) / 2
        let square = 3 * (c - b) - slopes.0 - slopes.1 / 2
        return ((cubic * t + square) * t + slopes.0 / 2) * t + b
    }
}
