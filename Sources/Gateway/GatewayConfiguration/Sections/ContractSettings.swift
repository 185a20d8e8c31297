/// What happens to a stream that breaks a rule.
public enum ContractAction: String, CaseIterable, Sendable, ChoiceValue {
    case disconnect
    case warn
    case off
}

/// H.264 profiles an operator may admit.
public enum VideoProfile: String, CaseIterable, Sendable, ChoiceValue {
    case baseline
    case constrainedBaseline
    case main
    case high
}

/// The media contract: each rule with its limit and its action.
public struct ContractSettings: Equatable, Sendable {
    public struct Rule<Limit: Equatable & Sendable>: Equatable, Sendable {
        public var limit: Limit
        public var action: ContractAction

        public init(_ limit: Limit, _ action: ContractAction) { (self.limit, self.action) = (limit, action) }
    }

    public struct FrameRate: Equatable, Sendable {
        public var minimum = 10
        public var maximum = 60
        public var action = ContractAction.warn
    }

    public var videoCodec = ContractAction.disconnect
    public var profile = Rule([VideoProfile.baseline, .constrainedBaseline], .disconnect)
    public var bFrames = ContractAction.disconnect
    /// Pixels of a picture, cropped.
    public var maximumResolution = Rule(921_600, .disconnect)
    /// Pixels of the short side.
    public var minimumResolution = Rule(160, .disconnect)
    /// Bits per second.
    public var videoBitrate = Rule(8_500_000, .disconnect)
    public var audioCodec = ContractAction.disconnect
    public var audioFormat = ContractAction.disconnect
    public var tracks = Rule(Duration.seconds(5), .disconnect)
    public var publishDuration = Rule(Duration.seconds(86_400), .disconnect)
    /// Bits per second.
    public var audioBitrate = Rule(160_000, .warn)
    public var frameRate = FrameRate()
    public var keyframeInterval = Rule(Duration.seconds(2), .warn)

    public init() {}
}
