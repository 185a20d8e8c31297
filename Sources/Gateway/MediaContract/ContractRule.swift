import H264

/// The rules of the media contract (docs/media-contract.md), by the names that configuration, metrics and events use.
public enum ContractRule: String, CaseIterable, Codable, Sendable {
    case videoCodec, videoProfile, bFrames, maximumResolution, minimumResolution, videoBitrate
    case audioCodec, audioFormat, tracks, duration
    case audioBitrate, frameRate, keyframeInterval

    /// Rules of the second group warn, the others disconnect.
    public var defaultAction: ContractAction {
        switch self {
        case .audioBitrate, .frameRate, .keyframeInterval: .warn
        default: .disconnect
        }
    }
}

/// What follows when a rule is broken.
public enum ContractAction: String, Sendable, Codable, CaseIterable {
    case disconnect, warn, off
}

/// H.264 profiles that an operator may admit. Constrained Baseline always is.
public enum AdmittedProfile: String, Sendable, Codable, CaseIterable, Hashable {
    case baseline, main, high

    /// H.264 A.2.
    var profileIDC: UInt8 {
        switch self {
        case .baseline: SequenceParameterSet.baseline
        case .main: SequenceParameterSet.main
        case .high: SequenceParameterSet.high
        }
    }
}
