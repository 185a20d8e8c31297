import H264
public import Settings

/// The rules of the media contract (docs/media-contract.md), by the names that metrics, events and stage tags use.
public enum ContractRule: String, CaseIterable, Codable, Sendable {
    case videoCodec, videoProfile, bFrames, maximumResolution, minimumResolution, videoBitrate
    case audioCodec, audioFormat, tracks, duration
    case audioBitrate, frameRate, keyframeInterval

    /// What follows where nobody has set anything else.
    public var defaultAction: ContractAction { Self.defaults[self] }

    private static let defaults = ContractSettings()
}

extension ContractSettings {
    /// What follows when that rule is broken.
    public subscript(rule: ContractRule) -> ContractAction {
        get { self[keyPath: Self.action(of: rule)] }
        set { self[keyPath: Self.action(of: rule)] = newValue }
    }

    private static func action(of rule: ContractRule) -> WritableKeyPath<ContractSettings, ContractAction> {
        switch rule {
        case .videoCodec: \.videoCodec.action
        case .videoProfile: \.profile.action
        case .bFrames: \.bFrames.action
        case .maximumResolution: \.maximumResolution.action
        case .minimumResolution: \.minimumResolution.action
        case .videoBitrate: \.videoBitrate.action
        case .audioCodec: \.audioCodec.action
        case .audioFormat: \.audioFormat.action
        case .tracks: \.tracks.action
        case .duration: \.publishDuration.action
        case .audioBitrate: \.audioBitrate.action
        case .frameRate: \.frameRate.action
        case .keyframeInterval: \.keyframeInterval.action
        }
    }

    /// The profile_idc values that an SDP offer may name (H.264 A.2); nil where the profile is no ground to disconnect.
    public var offeredProfiles: Set<UInt8>? {
        guard self[.videoProfile] == .disconnect else { return nil }
        return Set(profile.limit.map(\.profileIDC)).union([VideoProfile.constrainedBaseline.profileIDC])
    }
}

extension VideoProfile {
    /// H.264 A.2.
    fileprivate var profileIDC: UInt8 {
        switch self {
        case .baseline, .constrainedBaseline: SequenceParameterSet.baseline
        case .main: SequenceParameterSet.main
        case .high: SequenceParameterSet.high
        }
    }
}
