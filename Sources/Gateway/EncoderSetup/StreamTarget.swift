public import Settings

/// What an encoder should send so that it meets a stage's contract with room to spare.
///
/// Made from the contract and from what the encoder has to show; `OBSEncoder` says it in the words of one encoder.
public struct StreamTarget: Equatable, Sendable {
    /// The picture that an encoder composes, before it is scaled.
    public struct Canvas: Equatable, Sendable {
        public var width: Int
        public var height: Int
        /// Nil where it is not known.
        public var frameRate: FrameRate?

        public init(width: Int, height: Int, frameRate: FrameRate?) {
            (self.width, self.height, self.frameRate) = (width, height, frameRate)
        }

        /// The shape that suits most, where nothing is known of the encoder.
        public static let unknown = Canvas(width: 1_920, height: 1_080, frameRate: nil)
    }

    /// Frames a second as a fraction: 30,000/1,001 is NTSC's.
    public struct FrameRate: Equatable, Sendable {
        public var numerator: Int
        public var denominator: Int

        public init(numerator: Int, denominator: Int) { (self.numerator, self.denominator) = (numerator, denominator) }

        /// The highest whole part of this rate that is not above `maximum`: OBS leaves frames out evenly or not at all.
        func divided(toAtMost maximum: Int) -> FrameRate {
            let bound = max(1, maximum * denominator)
            return FrameRate(numerator: numerator, denominator: denominator * max(1, (numerator + bound - 1) / bound))
        }
    }

    /// Samples; both even.
    public internal(set) var width: Int
    public internal(set) var height: Int
    /// Where the encoder's own is not known, the contract's greatest: OBS divides what is above, and leaves the rest as it is.
    public let frameRate: FrameRate
    /// The greatest profile that the contract admits; what constrains Baseline further goes by Baseline's name.
    public let profile: VideoProfile
    /// Thousands of bits a second.
    public internal(set) var videoKilobits: Int
    public let audioKilobits: Int
    /// Seconds between keyframes, a whole number as encoders want it.
    public let keyframeSeconds: Int

    /// A rule that is off bounds nothing: there the encoder's own counts, and what is usual where that is not known.
    /// - Parameters:
    ///   - rules: the stage's contract.
    ///   - canvas: what the encoder composes.
    ///   - maximumKilobits: what the streamer allows for video and audio together; nil where nothing was said.
    public init(rules: ContractSettings, canvas: Canvas = .unknown, maximumKilobits: Int? = nil) {
        (width, height) = Self.size(of: canvas, pixelCount: rules.maximumResolution.bound ?? .max)
        let greatest = FrameRate(numerator: rules.frameRate.maximum, denominator: 1)
        let isRateBounded = rules.frameRate.action != .off
        frameRate = canvas.frameRate.map { isRateBounded ? $0.divided(toAtMost: rules.frameRate.maximum) : $0 } ?? greatest
        let admitted = rules.profile.bound ?? VideoProfile.allCases
        profile = [VideoProfile.high, .main].first(where: admitted.contains) ?? .baseline
        let audioKilobits = rules.audioBitrate.bound.map { min(Self.usualAudioKilobits, $0 / 1_000) } ?? Self.usualAudioKilobits
        let allowed = maximumKilobits.map { max($0 - audioKilobits, Self.leastVideoKilobits) }
        let admittedKilobits = rules.videoBitrate.bound.map(Self.videoKilobits(below:)) ?? allowed ?? Self.usualVideoKilobits
        (self.audioKilobits, videoKilobits) = (audioKilobits, min(admittedKilobits, allowed ?? .max))
        keyframeSeconds = rules.keyframeInterval.bound.map { max(1, Int($0.components.seconds)) } ?? Self.usualKeyframeSeconds
    }

    private static let usualAudioKilobits = 128
    private static let usualVideoKilobits = 6_000
    private static let usualKeyframeSeconds = 2
    /// Less than that is no picture.
    private static let leastVideoKilobits = 200

    /// Encoders overshoot what they are set to, most of all after a cut: seven tenths of the limit, in whole hundreds.
    private static func videoKilobits(below limit: Int) -> Int {
        let share = limit / 10_000 * 7
        return share < 1_000 ? share : (share + 99) / 100 * 100
    }

    /// The canvas, or the largest picture of its shape that has no more samples than the contract admits.
    private static func size(of canvas: Canvas, pixelCount: Int) -> (width: Int, height: Int) {
        guard canvas.width > 0, canvas.height > 0 else { return size(of: .unknown, pixelCount: pixelCount) }
        if canvas.width * canvas.height <= pixelCount { return (max(2, canvas.width & ~1), max(2, canvas.height & ~1)) }
        let ideal = Int((Double(pixelCount) * Double(canvas.width) / Double(canvas.height)).squareRoot()) & ~1
        // A ribbon keeps two samples of its short side, and gives up its shape for the area.
        let width = max(2, min(ideal, pixelCount / 2 & ~1))
        return (width, max(2, min(width * canvas.height / canvas.width, pixelCount / width) & ~1))
    }
}

extension ContractSettings.Rule {
    /// Nil where nothing is looked at.
    fileprivate var bound: Limit? { action == .off ? nil : limit }
}
