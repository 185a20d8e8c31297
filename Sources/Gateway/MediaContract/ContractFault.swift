import H264
import Refusals
import Settings
import Wire

/// One thing that a stream does and the contract does not allow, with what was measured.
public enum ContractFault: Equatable, Sendable {
    case videoCodec(name: String)
    case profile(idc: UInt8)
    case interlaced
    case sliceGroups
    case arbitrarySliceOrder
    case redundantPictures
    /// Again and again: their slice headers cannot be read, or their parameter sets have not come.
    case unjudgedPictures
    /// How many in a row, where the encoder tells.
    case bFrames(count: Int?)
    case resolutionAbove(width: Int, height: Int)
    case resolutionBelow(width: Int, height: Int)
    case videoBitrate(bitsPerSecond: Int)
    case audioCodec(name: String)
    case audioFormat(sampleRate: Int, channelCount: Int)
    case missingVideo
    case missingAudio
    /// Frames came, and nothing that says how to decode them.
    case undescribedVideo
    case undescribedAudio
    case duration(seconds: Int)
    case audioBitrate(bitsPerSecond: Int)
    case frameRate(framesPerSecond: Double)
    case keyframeInterval(seconds: Double)

    public var rule: ContractRule {
        switch self {
        case .videoCodec, .interlaced: .videoCodec
        case .profile, .sliceGroups, .arbitrarySliceOrder, .redundantPictures, .unjudgedPictures: .videoProfile
        case .bFrames: .bFrames
        case .resolutionAbove: .maximumResolution
        case .resolutionBelow: .minimumResolution
        case .videoBitrate: .videoBitrate
        case .audioCodec: .audioCodec
        case .audioFormat: .audioFormat
        case .missingVideo, .missingAudio, .undescribedVideo, .undescribedAudio: .tracks
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
        case .unjudgedPictures: .unreadableVideo
        case .bFrames: .bFrames
        case .resolutionAbove: .resolutionExceeded
        case .resolutionBelow: .resolutionTooSmall
        case .videoBitrate: .bitrateExceeded
        case .audioCodec: .audioCodec
        case .audioFormat: .audioFormat
        case .missingVideo, .missingAudio, .undescribedVideo, .undescribedAudio: .missingTrack
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
        case .interlaced, .sliceGroups, .arbitrarySliceOrder, .redundantPictures, .unjudgedPictures: 3
        case .profile: 4
        case .videoBitrate: 5
        case .audioCodec: 6
        case .audioFormat: 7
        case .missingVideo, .missingAudio, .undescribedVideo, .undescribedAudio: 8
        case .duration: 9
        case .audioBitrate, .frameRate, .keyframeInterval: 10
        }
    }

    /// Looked at when it changes: it holds until that is judged again. The others are found anew for as long as they are so.
    var isLasting: Bool {
        switch self {
        case .videoCodec, .profile, .interlaced, .sliceGroups, .redundantPictures, .resolutionAbove, .resolutionBelow,
            .audioCodec, .audioFormat, .missingVideo, .missingAudio, .undescribedVideo, .undescribedAudio, .duration:
            true
        default: false
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

extension ContractFault {
    /// What was found and what is allowed, as one part of the sentence.
    func words(under rules: ContractSettings) -> String {
        if case .duration = self { return "\(found(under: rules)), the longest allowed" }
        return "\(found(under: rules)) (\(allowed(under: rules).inSentence))"
    }

    /// What was found.
    func found(under rules: ContractSettings) -> String {
        switch self {
        case .videoCodec(let name): "\(name) video"
        case .profile(let idc): "\(SequenceParameterSet.profileName(idc)) profile"
        case .interlaced: "interlaced video"
        case .sliceGroups: "FMO slice groups"
        case .arbitrarySliceOrder: "arbitrary slice order"
        case .redundantPictures: "redundant pictures"
        case .unjudgedPictures: "pictures without readable slice headers and parameter sets"
        case .bFrames(let count): "\(count.map { "\($0) " } ?? "")B-frame\(count == 1 ? "" : "s")"
        case .resolutionAbove(let width, let height), .resolutionBelow(let width, let height): "\(width)x\(height) pixels"
        case .videoBitrate(let rate): "video at \(Self.mega(rate)) Mbit/s"
        case .audioCodec(let name): "\(name) audio"
        case .audioFormat(let rate, let channels): "audio of \(Self.kilo(rate)) kHz and \(Self.channels(channels))"
        case .missingVideo: "no video within \(rules.tracks.limit.components.seconds) s"
        case .missingAudio: "no audio within \(rules.tracks.limit.components.seconds) s"
        case .undescribedVideo: "video without parameter sets that can be read"
        case .undescribedAudio: "audio without a configuration that can be read"
        case .duration(let seconds): "live for \(Self.hours(seconds))"
        case .audioBitrate(let rate): "audio at \(rate / 1_000) kbit/s"
        case .frameRate(let rate): "\(Self.short(rate)) frames a second"
        case .keyframeInterval(let seconds): "keyframe every \(Self.short(seconds)) s"
        }
    }

    /// What is allowed where this was found.
    func allowed(under rules: ContractSettings) -> AllowedValues {
        switch self {
        case .videoCodec: .only("H.264")
        case .profile: .only(Self.admitted(rules))
        case .interlaced: .only("progressive")
        case .sliceGroups, .arbitrarySliceOrder, .redundantPictures, .unjudgedPictures, .bFrames: .only("none")
        case .resolutionAbove(let width, let height):
            .bound(
                "at most \(rules.maximumResolution.limit) in all, "
                    + "such as \(AdvisedPicture(under: rules, insteadOf: width, height))")
        case .resolutionBelow: .bound("the short side at least \(rules.minimumResolution.limit)")
        case .videoBitrate: .bound("at most \(Self.mega(rules.videoBitrate.limit))", unit: " Mbit/s")
        case .audioCodec: .only("AAC-LC, Opus")
        case .audioFormat: .only(Self.audioFormats)
        case .missingVideo, .missingAudio: .bound("video and audio are required")
        case .undescribedVideo, .undescribedAudio: .bound("required in a sequence header before the first frame")
        case .duration: .bound("at most \(Self.hours(Int(rules.publishDuration.limit.inSeconds)))")
        case .audioBitrate: .bound("at most \(rules.audioBitrate.limit / 1_000)", unit: " kbit/s")
        case .frameRate: .only("\(rules.frameRate.minimum) to \(rules.frameRate.maximum)")
        case .keyframeInterval: .bound("at most \(Self.short(rules.keyframeInterval.limit.inSeconds))", unit: " s")
        }
    }

    private static func admitted(_ rules: ContractSettings) -> String {
        let names = VideoProfile.allCases.filter { $0 != .constrainedBaseline && rules.profile.limit.contains($0) }.map(
            \.rawValue)
        return names.isEmpty ? "constrained baseline" : names.joined(separator: ", ")
    }

    private static var audioFormats: String {
        let rates = AudioState.sampleRates.sorted().map(kilo).joined(separator: " or ")
        return "\(rates) kHz, at most \(AudioState.maximumChannelCount) channels"
    }

    static func mega(_ bits: Int) -> String { short(Double(bits) / 1_000_000) }
    static func kilo(_ hertz: Int) -> String { hertz % 1_000 == 0 ? "\(hertz / 1_000)" : "\(Double(hertz) / 1_000)" }
    static func channels(_ count: Int) -> String { "\(count) channel\(count == 1 ? "" : "s")" }
    static func hours(_ seconds: Int) -> String { "\(seconds / 3_600) h \(seconds / 60 % 60) min" }

    /// One decimal place at most.
    static func short(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "?" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// What a rule lets pass, for the sentence about a fault and for the table of rules alike.
enum AllowedValues: Equatable {
    case only(String)
    /// Where the fault's own words stand before it, the unit goes without saying.
    case bound(String, unit: String = "")

    var inSentence: String {
        switch self {
        case .only(let words): "allowed: \(words)"
        case .bound(let words, _): words
        }
    }

    var inTable: String {
        switch self {
        case .only(let words): words
        case .bound(let words, let unit): words + unit
        }
    }
}
