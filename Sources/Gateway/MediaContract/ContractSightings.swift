import AAC
import H264
import Settings
import Wire

/// What has been seen of one layer's pictures.
struct LayerSighting: Sendable {
    var place: UInt8
    var sequence: SequenceParameterSet
    var frameRate: Double?
    /// Seconds.
    var keyframeInterval: Double?
}

/// What one publish has shown of itself by one moment, and the table of rules that follows from it.
///
/// The monitor copies it without making words of it: those are for whoever asks.
struct ContractSightings: Sendable {
    var rules: ContractSettings
    /// flashVer or User-Agent.
    var product: String
    var isX264: Bool
    /// Two rules are not for every publish.
    var judgesTracks: Bool
    var judgesKeyframes: Bool
    /// The faults that the stream has now, by precedence.
    var faults: [ContractFinding]

    var published = PublishedLayers()
    /// The largest first; none before the first picture.
    var layers: [LayerSighting] = []
    /// Of all layers together.
    var videoBitsPerSecond: Int?
    var hasAudio: Bool
    /// Nil for Opus.
    var audio: AudioSpecificConfig?
    var audioBitsPerSecond: Int?
    /// Since the first media.
    var elapsed: Duration
    var encoder: EncoderFigures

    var table: [RuleStanding] {
        let advice = EncoderAdvice(
            family: EncoderFamily(product: product), isX264: isX264, hasLayers: published.areSeveral, rules: rules)
        return ContractRule.allCases.filter(isJudged).map { rule in
            let (found, action) = (faults.filter { $0.fault.rule == rule }, rules[rule])
            let seen = found.isEmpty ? seen(rule) : published.text(of: found) { $0.found(under: rules) }
            let example = found.first?.fault ?? rule.example
            return RuleStanding(
                rule: rule, action: action, limit: example.allowed(under: rules).inTable, seen: seen,
                isKept: action == .off || seen == nil ? nil : found.isEmpty, setting: advice.setting(for: example).text)
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
        case .videoCodec: seen { "H.264, \($0.sequence.frameMbsOnly ? "progressive" : "interlaced")" }
        case .videoProfile: seen { SequenceParameterSet.profileName($0.sequence.profileIDC) }
        // Slices are not looked at for a rule that is off.
        case .bFrames: rules[.bFrames] == .off ? nil : seen { _ in "none" }
        case .maximumResolution: seen(Self.size)
        case .minimumResolution: layers.first.map { own($0.place) + Self.size($0) }
        case .videoBitrate: videoBitsPerSecond.map { sum + "\(ContractFault.mega($0)) Mbit/s" }
        case .audioCodec: hasAudio ? audio.map(AudioState.name(of:)) ?? "Opus" : nil
        case .audioFormat: hasAudio ? audio.map(Self.format(of:)) ?? "48 kHz" : nil
        case .tracks: tracks
        case .duration: ContractFault.hours(Int(elapsed.inSeconds))
        case .audioBitrate: audioBitsPerSecond.map { "\($0 / 1_000) kbit/s" }
        case .frameRate: seen { $0.frameRate.map { ContractFault.short($0) } }
        case .keyframeInterval: seen { $0.keyframeInterval.map { "\(ContractFault.short($0)) s" } }
        }
    }

    /// Of each layer, or once where it is the same of all.
    private func seen(_ words: (LayerSighting) -> String?) -> String? {
        let told = layers.compactMap { layer in words(layer).map { (place: layer.place, words: $0) } }
        guard let first = told.first else { return nil }
        if told.allSatisfy({ $0.words == first.words }) { return first.words }
        return told.map { own($0.place) + $0.words }.joined(separator: "; ")
    }

    private func own(_ place: UInt8) -> String { published.areSeveral ? "\(published.shortName(of: place)): " : "" }
    private var sum: String { published.areSeveral ? PublishedLayers.sum : "" }

    private static func size(_ layer: LayerSighting) -> String { "\(layer.sequence.width)x\(layer.sequence.height) pixels" }

    private static func format(of audio: AudioSpecificConfig) -> String {
        let channels = audio.channelCount.map(ContractFault.channels)
        return ["\(ContractFault.kilo(audio.sampleRate)) kHz", channels].compactMap { $0 }.joined(separator: ", ")
    }

    private var tracks: String? {
        switch (!layers.isEmpty, hasAudio) {
        case (true, true): "video and audio"
        case (true, false): "video"
        case (false, true): "audio"
        case (false, false): nil
        }
    }
}
