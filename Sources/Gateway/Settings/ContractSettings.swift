/// What happens to a stream that breaks a rule.
public enum ContractAction: String, CaseIterable, Codable, Sendable {
    case disconnect
    case warn
    case off
}

/// H.264 profiles an operator may admit.
public enum VideoProfile: String, CaseIterable, Codable, Sendable {
    case baseline
    case constrainedBaseline
    case main
    case high
}

/// The media contract: each rule with its limit and its action (docs/media-contract.md).
public struct ContractSettings: Equatable, Codable, Sendable {
    public struct Rule<Limit: Equatable & Codable & Sendable>: Equatable, Codable, Sendable {
        public var limit: Limit
        public var action: ContractAction

        public init(_ limit: Limit, _ action: ContractAction) { (self.limit, self.action) = (limit, action) }
    }

    /// A rule without a limit to set.
    public struct FixedRule: Equatable, Codable, Sendable {
        public var action: ContractAction

        public init(_ action: ContractAction) { self.action = action }
    }

    /// Frames a second.
    public struct FrameRate: Equatable, Codable, Sendable {
        public var minimum = 10
        public var maximum = 60
        public var action = ContractAction.warn
    }

    public var videoCodec = FixedRule(.disconnect)
    public var profile = Rule([VideoProfile.baseline, .constrainedBaseline], .disconnect)
    public var bFrames = FixedRule(.disconnect)
    /// Width times height after cropping.
    public var maximumResolution = Rule(921_600, .disconnect)
    /// The shorter side, in pixels.
    public var minimumResolution = Rule(160, .disconnect)
    /// Bits per second.
    public var videoBitrate = Rule(8_500_000, .disconnect)
    public var audioCodec = FixedRule(.disconnect)
    public var audioFormat = FixedRule(.disconnect)
    /// RTMP: both tracks must have come within this time of the first media message.
    public var tracks = Rule(Duration.seconds(5), .disconnect)
    public var publishDuration = Rule(Duration.seconds(86_400), .disconnect)
    /// Bits per second.
    public var audioBitrate = Rule(160_000, .warn)
    public var frameRate = FrameRate()
    /// Between two IDR pictures; 10 % more are let pass.
    public var keyframeInterval = Rule(Duration.seconds(2), .warn)

    public init() {}
}
