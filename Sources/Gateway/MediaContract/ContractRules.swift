/// The media contract's limits and actions, as configuration and a stage's tags set them. The defaults are
/// those of docs/media-contract.md.
public struct ContractRules: Equatable, Codable, Sendable {
    /// Width times height after cropping.
    public var maximumPixelCount = 921_600
    /// The shorter side, in samples.
    public var minimumShortSide = 160
    /// Bits a second.
    public var maximumVideoBitrate = 8_500_000
    /// Bits a second.
    public var maximumAudioBitrate = 160_000
    /// Frames a second.
    public var minimumFrameRate = 10.0
    public var maximumFrameRate = 60.0
    /// Between two IDR pictures; 10 % more are let pass.
    public var maximumKeyframeInterval = Duration.seconds(2)
    public var maximumDuration = Duration.seconds(24 * 3_600)
    public var admittedProfiles: Set<AdmittedProfile> = [.baseline]
    public var audioSampleRates: Set<Int> = [44_100, 48_000]
    public var maximumAudioChannelCount = 2
    /// RTMP: both tracks must have come within this time of the first media message.
    public var trackDeadline = Duration.seconds(5)
    /// WHIP: browsers begin small; below the minimum is a fault only when it lasted this long from the start.
    public var rampUpTime = Duration.seconds(30)

    private var actions: [ContractRule: ContractAction] = [:]

    public init() {}

    /// The profile_idc values that an SDP offer may name (H.264 A.2); nil where the profile is no ground to disconnect.
    public var offeredProfiles: Set<UInt8>? {
        guard self[.videoProfile] == .disconnect else { return nil }
        return Set(admittedProfiles.map(\.profileIDC)).union([AdmittedProfile.baseline.profileIDC])
    }

    public subscript(rule: ContractRule) -> ContractAction {
        get { actions[rule] ?? rule.defaultAction }
        set { actions[rule] = newValue == rule.defaultAction ? nil : newValue }
    }
}
