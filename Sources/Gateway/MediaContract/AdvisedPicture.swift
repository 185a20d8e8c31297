import Settings

/// The largest usual picture that a stage takes, for whoever has to choose another size.
struct AdvisedPicture: CustomStringConvertible {
    /// In samples.
    private let width: Int
    private let height: Int

    /// - Parameter isUpright: whether what is sent now is higher than it is wide.
    init(under rules: ContractSettings, isUpright: Bool) {
        let limit = rules.maximumResolution.limit
        let (long, short) = Self.usual.first { long, short in long * short <= limit } ?? Self.least
        (width, height) = isUpright ? (short, long) : (long, short)
    }

    var description: String { "\(width)x\(height)" }

    private static let usual = [(1_920, 1_080), (1_280, 720), (960, 540), (640, 360), (426, 240), (320, 180)]
    /// Within the least limit that the configuration takes, 25,600.
    private static let least = (192, 108)
}
