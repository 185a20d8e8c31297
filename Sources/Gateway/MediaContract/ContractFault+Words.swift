import H264
import Settings
import Wire

extension ContractFault {
    /// What was found and what is allowed, as one part of the sentence.
    func words(under rules: ContractSettings) -> String {
        switch self {
        case .videoCodec(let name): "\(name) video (allowed: H.264)"
        case .profile(let idc): "\(SequenceParameterSet.profileName(idc)) profile (allowed: \(Self.admitted(rules)))"
        case .interlaced: "interlaced video (allowed: progressive)"
        case .sliceGroups: "slice groups (FMO; allowed: none)"
        case .arbitrarySliceOrder: "arbitrary slice order (allowed: none)"
        case .redundantPictures: "redundant pictures (allowed: none)"
        case .bFrames(let count): "\(count.map { "\($0) " } ?? "")B-frame\(count == 1 ? "" : "s") (allowed: none)"
        case .resolutionAbove(let width, let height):
            "\(width)x\(height) pixels (at most \(rules.maximumResolution.limit) in all, such as 1280x720)"
        case .resolutionBelow(let width, let height):
            "\(width)x\(height) pixels (the short side at least \(rules.minimumResolution.limit))"
        case .videoBitrate(let rate): "video at \(Self.mega(rate)) Mbit/s (at most \(Self.mega(rules.videoBitrate.limit)))"
        case .audioCodec(let name): "\(name) audio (allowed: AAC-LC, Opus)"
        case .audioFormat(let rate, let channels):
            "audio of \(Self.kilo(rate)) kHz and \(channels) channels (\(Self.audioFormats))"
        case .missingVideo: "no video within \(rules.tracks.limit.components.seconds) s (video and audio are required)"
        case .missingAudio: "no audio within \(rules.tracks.limit.components.seconds) s (video and audio are required)"
        case .duration(let seconds): "live for \(seconds / 3_600) h \(seconds / 60 % 60) min, the longest allowed"
        case .audioBitrate(let rate): "audio at \(rate / 1_000) kbit/s (at most \(rules.audioBitrate.limit / 1_000))"
        case .frameRate(let rate):
            "\(Self.short(rate)) frames a second (allowed: \(rules.frameRate.minimum) to \(rules.frameRate.maximum))"
        case .keyframeInterval(let seconds):
            "keyframe every \(Self.short(seconds)) s (at most \(Self.short(rules.keyframeInterval.limit.inSeconds)))"
        }
    }

    private static func admitted(_ rules: ContractSettings) -> String {
        let names = VideoProfile.allCases.filter { $0 != .constrainedBaseline && rules.profile.limit.contains($0) }.map(
            \.rawValue)
        return names.isEmpty ? "constrained baseline" : names.joined(separator: ", ")
    }

    private static var audioFormats: String {
        let rates = ContractMonitor.audioSampleRates.sorted().map(kilo).joined(separator: " or ")
        return "allowed: \(rates) kHz, at most \(ContractMonitor.maximumAudioChannelCount) channels"
    }

    private static func mega(_ bits: Int) -> String { short(Double(bits) / 1_000_000) }
    private static func kilo(_ hertz: Int) -> String { short(Double(hertz) / 1_000) }

    /// One decimal place at most.
    static func short(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "?" }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
