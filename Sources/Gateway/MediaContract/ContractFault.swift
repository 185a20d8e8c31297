import Refusals

/// One thing that a stream does and the contract does not allow, with what was measured.
public enum ContractFault: Equatable, Sendable {
    case videoCodec(name: String)
    case profile(idc: UInt8)
    case interlaced
    case sliceGroups
    case arbitrarySliceOrder
    case redundantPictures
    /// How many in a row, where the encoder tells.
    case bFrames(count: Int?)
    case resolutionAbove(width: Int, height: Int)
    case resolutionBelow(width: Int, height: Int)
    case videoBitrate(bitsPerSecond: Int)
    case audioCodec(name: String)
    case audioFormat(sampleRate: Int, channelCount: Int)
    case missingVideo
    case missingAudio
    case duration(seconds: Int)
    case audioBitrate(bitsPerSecond: Int)
    case frameRate(framesPerSecond: Double)
    case keyframeInterval(seconds: Double)

    public var rule: ContractRule {
        switch self {
        case .videoCodec, .interlaced: .videoCodec
        case .profile, .sliceGroups, .arbitrarySliceOrder, .redundantPictures: .videoProfile
        case .bFrames: .bFrames
        case .resolutionAbove: .maximumResolution
        case .resolutionBelow: .minimumResolution
        case .videoBitrate: .videoBitrate
        case .audioCodec: .audioCodec
        case .audioFormat: .audioFormat
        case .missingVideo, .missingAudio: .tracks
        case .duration: .duration
        case .audioBitrate: .audioBitrate
        case .frameRate: .frameRate
        case .keyframeInterval: .keyframeInterval
        }
    }

    /// The row of the refusal table; for the three rules that warn by default, the nearest one.
    var code: RefusalCode {
        switch self {
        case .videoCodec: .videoCodec
        case .profile: .videoProfile
        case .interlaced: .interlacedVideo
        case .sliceGroups, .arbitrarySliceOrder, .redundantPictures: .sliceStructure
        case .bFrames: .bFrames
        case .resolutionAbove: .resolutionExceeded
        case .resolutionBelow: .resolutionTooSmall
        case .videoBitrate: .bitrateExceeded
        case .audioCodec: .audioCodec
        case .audioFormat: .audioFormat
        case .missingVideo, .missingAudio: .missingTrack
        case .duration: .durationExceeded
        case .audioBitrate: .bitrateExceeded
        case .frameRate, .keyframeInterval: .videoCodec
        }
    }

    /// The most specific cause comes first: B-frames make a profile, and not the other way round.
    var precedence: Int {
        switch self {
        case .bFrames: 0
        case .resolutionAbove, .resolutionBelow: 1
        case .videoCodec: 2
        case .interlaced, .sliceGroups, .arbitrarySliceOrder, .redundantPictures: 3
        case .profile: 4
        case .videoBitrate: 5
        case .audioCodec: 6
        case .audioFormat: 7
        case .missingVideo, .missingAudio: 8
        case .duration: 9
        case .audioBitrate, .frameRate, .keyframeInterval: 10
        }
    }

    /// Whether more is learned by looking at the rest of the first group of pictures before saying so.
    var waitsForMore: Bool {
        switch self {
        case .profile, .interlaced, .sliceGroups, .arbitrarySliceOrder, .redundantPictures, .resolutionAbove, .resolutionBelow,
            .audioCodec, .audioFormat:
            true
        default: false
        }
    }
}
