import GatewayConfiguration
import MediaContract

extension ContractRules {
    /// The rules as the operator configured them.
    init(_ settings: ContractSettings) {
        self.init()
        maximumPixelCount = settings.maximumResolution.limit
        minimumShortSide = settings.minimumResolution.limit
        maximumVideoBitrate = settings.videoBitrate.limit
        maximumAudioBitrate = settings.audioBitrate.limit
        minimumFrameRate = Double(settings.frameRate.minimum)
        maximumFrameRate = Double(settings.frameRate.maximum)
        maximumKeyframeInterval = settings.keyframeInterval.limit
        maximumDuration = settings.publishDuration.limit
        trackDeadline = settings.tracks.limit
        admittedProfiles = Set(settings.profile.limit.compactMap { AdmittedProfile(rawValue: $0.rawValue) })
        for (rule, action) in Self.actions(settings) {
            self[rule] = MediaContract.ContractAction(rawValue: action.rawValue) ?? .disconnect
        }
    }

    private static func actions(_ settings: ContractSettings) -> [(ContractRule, GatewayConfiguration.ContractAction)] {
        [
            (.videoCodec, settings.videoCodec), (.videoProfile, settings.profile.action), (.bFrames, settings.bFrames),
            (.maximumResolution, settings.maximumResolution.action), (.minimumResolution, settings.minimumResolution.action),
            (.videoBitrate, settings.videoBitrate.action), (.audioCodec, settings.audioCodec),
            (.audioFormat, settings.audioFormat), (.tracks, settings.tracks.action),
            (.duration, settings.publishDuration.action), (.audioBitrate, settings.audioBitrate.action),
            (.frameRate, settings.frameRate.action), (.keyframeInterval, settings.keyframeInterval.action),
        ]
    }
}
