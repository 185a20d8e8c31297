import AAC
import H264
import Settings
import Wire

/// What one publish has shown of itself by one moment, and the table of rules that follows from it.
///
/// The monitor copies it without making words of it: those are for whoever asks.
struct ContractSightings: Sendable {
    var rules: ContractSettings
    var family: EncoderFamily
    var isX264: Bool
    /// Two rules are not for every publish.
    var judgesTracks: Bool
    var judgesKeyframes: Bool
    /// Those that are so now, by precedence.
    var faults: [ContractFault]

    /// Of the pictures; nil before the first one.
    var sequence: SequenceParameterSet?
    var videoBitsPerSecond: Int?
    var frameRate: Double?
    /// Seconds.
    var keyframeInterval: Double?
    var hasAudio: Bool
    /// Nil for Opus.
    var audio: AudioSpecificConfig?
    var audioBitsPerSecond: Int?
    /// Since the first media.
    var elapsed: Duration
    var encoder: EncoderFigures

    var table: [RuleStanding] {
        let advice = EncoderAdvice(family: family, isX264: isX264, rules: rules)
        return ContractRule.allCases.filter(isJudged).map { rule in
            let (found, action) = (faults.filter { $0.rule == rule }, rules[rule])
            let seen = found.isEmpty ? seen(rule) : found.map { $0.found(under: rules) }.joined(separator: ", ")
            return RuleStanding(
                rule: rule, action: action, limit: (found.first ?? rule.example).allowed(under: rules).inTable, seen: seen,
                isKept: action == .off || seen == nil ? nil : found.isEmpty,
                setting: advice.setting(for: found.first ?? rule.example))
        }
    }

    private func isJudged(_ rule: ContractRule) -> Bool {
        switch rule {
        case .tracks: judgesTracks
        case .keyframeInterval: judgesKeyframes
        default: true
        }
    }

    /// Of a rule that is kept.
    private func seen(_ rule: ContractRule) -> String? {
        switch rule {
        case .videoCodec: sequence.map { "H.264, \($0.frameMbsOnly ? "progressive" : "interlaced")" }
        case .videoProfile: sequence.map { SequenceParameterSet.profileName($0.profileIDC) }
        // Slices are not looked at for a rule that is off.
        case .bFrames: sequence == nil || rules[.bFrames] == .off ? nil : "none"
        case .maximumResolution, .minimumResolution: sequence.map { "\($0.width)x\($0.height) pixels" }
        case .videoBitrate: videoBitsPerSecond.map { "\(ContractFault.mega($0)) Mbit/s" }
        case .audioCodec: hasAudio ? audio.map(ContractMonitor.name(of:)) ?? "Opus" : nil
        case .audioFormat: hasAudio ? audio.map(Self.format(of:)) ?? "48 kHz" : nil
        case .tracks: tracks
        case .duration: ContractFault.hours(Int(elapsed.inSeconds))
        case .audioBitrate: audioBitsPerSecond.map { "\($0 / 1_000) kbit/s" }
        case .frameRate: frameRate.map { ContractFault.short($0) }
        case .keyframeInterval: keyframeInterval.map { "\(ContractFault.short($0)) s" }
        }
    }

    private static func format(of audio: AudioSpecificConfig) -> String {
        let channels = audio.channelCount.map { "\($0) channel\($0 == 1 ? "" : "s")" }
        return ["\(ContractFault.kilo(audio.sampleRate)) kHz", channels].compactMap { $0 }.joined(separator: ", ")
    }

    private var tracks: String? {
        switch (sequence != nil, hasAudio) {
        case (true, true): "video and audio"
        case (true, false): "video"
        case (false, true): "audio"
        case (false, false): nil
        }
    }
}
