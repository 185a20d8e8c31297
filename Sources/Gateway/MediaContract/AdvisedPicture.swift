import Settings

/// The largest usual picture that a stage takes, for whoever has to choose another size. In place of one that is too large and of
/// another shape than 16:9, the largest of that shape: in a usual one it would be stretched.
struct AdvisedPicture: CustomStringConvertible {
    /// In samples.
    private let width: Int
    private let height: Int

    /// In place of what is sent now, or of nothing (0).
    init(under rules: ContractSettings, insteadOf width: Int, _ height: Int) {
        let limit = rules.maximumResolution.limit
        let (long, short) = Self.usual.first { long, short in long * short <= limit } ?? Self.least
        let usual = height > width ? (short, long) : (long, short)
        (self.width, self.height) = Self.shaped(as: width, height, under: rules) ?? usual
    }

    var description: String { "\(width)x\(height)" }

    /// Nil where a usual size will do, or one of that shape would be too low.
    private static func shaped(as width: Int, _ height: Int, under rules: ContractSettings) -> (Int, Int)? {
        let (limit, long, short) = (rules.maximumResolution.limit, max(width, height), min(width, height))
        guard long * short > limit, abs(9 * long - 16 * short) * 50 > 16 * short else { return nil }
        let newWidth = Int((Double(limit) * Double(width) / Double(height)).squareRoot()) & ~1
        let newHeight = newWidth * height / width & ~1
        return min(newWidth, newHeight) >= rules.minimumResolution.limit ? (newWidth, newHeight) : nil
    }

    private static let usual = [(1_920, 1_080), (1_280, 720), (960, 540), (640, 360), (426, 240), (320, 180)]
    /// Within the least limit that the configuration takes, 25,600.
    private static let least = (192, 108)
}
