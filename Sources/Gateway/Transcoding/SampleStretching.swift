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
        guard correction != 0, count > 4, count + correction > 0 else { return output.append(contentsOf: block) }
        let step = Double(count) / Double(count + correction)
        for index in 0..<(count + correction) {
            let position = Double(index) * step
            let whole = Int(position)
            let fraction = Float(position - Double(whole))
            for channel in 0..<channelCount {
                func sample(_ offset: Int) -> Float {
                    block[min(max(whole + offset, 0), count - 1) * channelCount + channel]
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
