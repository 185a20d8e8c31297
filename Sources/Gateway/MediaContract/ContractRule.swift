import H264
public import Settings
import Wire

/// The rules of the media contract (docs/media-contract.md), by the names that metrics, events and stage tags use.
public enum ContractRule: String, CaseIterable, Codable, Sendable {
    case videoCodec, videoProfile, bFrames, maximumResolution, minimumResolution, videoBitrate
    case audioCodec, audioFormat, tracks, duration
    case audioBitrate, frameRate, keyframeInterval

    /// What follows where nobody has set anything else.
    public var defaultAction: ContractAction { Self.defaults[self] }

    private static let defaults = ContractSettings()

    /// A fault of this rule, for what all of them have in common: what is allowed, and the setting that mends it.
    var example: ContractFault {
        switch self {
        case .videoCodec: .videoCodec(name: "")
        case .videoProfile: .profile(idc: 0)
        case .bFrames: .bFrames(count: nil)
        case .maximumResolution: .resolutionAbove(width: 0, height: 0)
        case .minimumResolution: .resolutionBelow(width: 0, height: 0)
        case .videoBitrate: .videoBitrate(bitsPerSecond: 0)
        case .audioCodec: .audioCodec(name: "")
        case .audioFormat: .audioFormat(sampleRate: 0, channelCount: 0)
        case .tracks: .missingVideo
        case .duration: .duration(seconds: 0)
        case .audioBitrate: .audioBitrate(bitsPerSecond: 0)
        case .frameRate: .frameRate(framesPerSecond: 0)
        case .keyframeInterval: .keyframeInterval(seconds: 0)
        }
    }
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

    /// What an answer has to keep an encoder below, bit/s of video; nil where the contract does not look at it.
    public var offeredBitrate: Int? { self[.videoBitrate] == .off ? nil : videoBitrate.limit }
}

extension ContractSettings {
    func admits(_ sequence: SequenceParameterSet) -> Bool {
        switch sequence.profileIDC {
        case SequenceParameterSet.baseline: sequence.isConstrainedBaseline || profile.limit.contains(.baseline)
        case SequenceParameterSet.main: profile.limit.contains(.main)
        case SequenceParameterSet.high: profile.limit.contains(.high)
        default: false
        }
    }

    /// - Parameter seconds: between two IDR pictures.
    func isTooLong(keyframeInterval seconds: Double) -> Bool { seconds > keyframeInterval.limit.inSeconds * 1.1 }
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

extension ContractSettings {
    /// The rules for one stage: its tags `stagedoor:…` override limits and actions.
    ///
    /// `stagedoor:maxVideoBitrate` (bit/s), `maxAudioBitrate` (bit/s), `maxResolution` (`1280x720`), `minFrameRate`,
    /// `maxFrameRate`, `maxKeyframeInterval` (seconds), `maxDuration` (seconds), `profiles` (`baseline main high`), and
    /// `stagedoor:rule.NAME` with `disconnect`, `warn` or `off`.
    /// - Returns: the rules, and the tags that say nothing we know or nothing sensible: they change nothing.
    public func overridden(byStageTags tags: [String: String]) -> (rules: ContractSettings, ignored: [String]) {
        var rules = self
        var ignored: [String] = []
        for (tag, value) in tags.sorted(by: { $0.key < $1.key }) where tag.hasPrefix(Self.tagPrefix) {
            if !rules.apply(String(tag.dropFirst(Self.tagPrefix.count)), value) { ignored.append(tag) }
        }
        return (rules, ignored)
    }

    static let tagPrefix = "stagedoor:"
    /// Above what any limit of this kind may sensibly be: keeps sums far from overflow.
    static let maximumTagNumber = 1_000_000_000

    private mutating func apply(_ name: String, _ value: String) -> Bool {
        if name.hasPrefix("rule.") {
            guard let rule = ContractRule(rawValue: String(name.dropFirst("rule.".count))),
                let action = ContractAction(rawValue: value)
            else { return false }
            self[rule] = action
            return true
        }
        if name == "maxResolution" { return applyResolution(value) }
        if name == "profiles" { return applyProfiles(value) }
        guard let number = Int(value), (1...Self.maximumTagNumber).contains(number) else { return false }
        switch name {
        case "maxVideoBitrate": videoBitrate.limit = number
        case "maxAudioBitrate": audioBitrate.limit = number
        case "minFrameRate": frameRate.minimum = number
        case "maxFrameRate": frameRate.maximum = number
        case "maxKeyframeInterval": keyframeInterval.limit = .seconds(number)
        case "maxDuration": publishDuration.limit = .seconds(number)
        default: return false
        }
        return true
    }

    private mutating func applyResolution(_ value: String) -> Bool {
        let sides = value.split(separator: "x").map { Int($0) ?? 0 }
        guard sides.count == 2, sides.allSatisfy({ (1...16_384).contains($0) }) else { return false }
        maximumResolution.limit = sides[0] * sides[1]
        return true
    }

    private mutating func applyProfiles(_ value: String) -> Bool {
        let profiles = value.split(whereSeparator: { $0 == "," || $0 == " " }).map { VideoProfile(rawValue: String($0)) }
        // Constrained Baseline is always admitted: naming it is no choice.
        guard !profiles.isEmpty, profiles.allSatisfy({ $0 != nil && $0 != .constrainedBaseline }) else { return false }
        profile.limit = VideoProfile.allCases.filter(profiles.contains)
        return true
    }
}
