import AAC
import Settings
import Wire

/// The contract's eye on the audio: what it remembers of it, and how it judges it.
struct AudioState {
    private(set) var isPresent = false
    /// Nil for Opus.
    private(set) var configuration: AudioSpecificConfig?
    /// What was told of it once, and no configuration says.
    private var announcedFault: ContractFault?
    private var meter = AudioMeter()

    static let sampleRates: Set<Int> = [44_100, 48_000]
    static let maximumChannelCount = 2

    /// Bits a second; nil before they were measured.
    var bitsPerSecond: Int? { meter.bitsPerSecond > 0 ? meter.bitsPerSecond : nil }

    /// There is audio that breaks a rule, by what signalling or the decoder says.
    mutating func announced(
        _ fault: ContractFault, at now: MonotonicTime, isFinal: Bool = false, _ findings: inout ContractFindings
    ) {
        (isPresent, announcedFault) = (true, fault)
        findings.found(fault, at: now, isFinal: isFinal)
    }

    mutating func configured(_ new: AudioSpecificConfig, at now: MonotonicTime, _ findings: inout ContractFindings) {
        // What was announced in between makes a known one news.
        guard new != configuration || announcedFault != nil else { return }
        (configuration, announcedFault) = (new, nil)
        judgeConfiguration(at: now, &findings)
    }

    mutating func opusConfigured(channelCount: Int, at now: MonotonicTime, _ findings: inout ContractFindings) {
        (configuration, announcedFault) = (nil, nil)
        findings.judgedAnew([.audioCodec, .audioFormat])
        guard channelCount > Self.maximumChannelCount else { return }
        announced(.audioFormat(sampleRate: 48_000, channelCount: channelCount), at: now, &findings)
    }

    /// There are new limits.
    func judgeAgain(at now: MonotonicTime, _ findings: inout ContractFindings) {
        judgeConfiguration(at: now, &findings)
        if let announcedFault { findings.found(announcedFault, at: now) }
    }

    private func judgeConfiguration(at now: MonotonicTime, _ findings: inout ContractFindings) {
        guard let configuration else { return }
        findings.judgedAnew([.audioCodec, .audioFormat])
        guard configuration.isLowComplexity else {
            return findings.found(.audioCodec(name: Self.name(of: configuration)), at: now)
        }
        let channelCount = configuration.channelCount ?? 0
        if !Self.sampleRates.contains(configuration.sampleRate) || channelCount > Self.maximumChannelCount {
            findings.found(.audioFormat(sampleRate: configuration.sampleRate, channelCount: channelCount), at: now)
        }
    }

    mutating func frame(byteCount: Int, at moment: MediaMoment, _ findings: inout ContractFindings) {
        isPresent = true
        guard !findings.isOver, meter.add(byteCount: byteCount, at: moment.mediaTime) else { return }
        if Double(meter.bitsPerSecond) > Double(findings.rules.audioBitrate.limit) * AudioMeter.tolerance {
            findings.found(.audioBitrate(bitsPerSecond: meter.bitsPerSecond), at: moment.arrival)
        }
    }

    static func name(of configuration: AudioSpecificConfig) -> String {
        if configuration.isLowComplexity { return "AAC-LC" }
        if configuration.hasParametricStereo { return "HE-AAC v2" }
        if configuration.hasSpectralBandReplication { return "HE-AAC" }
        switch configuration.objectType {
        case .main: return "AAC Main"
        case .lowDelay: return "AAC-LD"
        case .enhancedLowDelay: return "AAC-ELD"
        case .unifiedSpeechAndAudio: return "xHE-AAC"
        default: return "AAC of object type \(configuration.objectType.rawValue)"
        }
    }
}

/// The audio bitrate over windows of five seconds of media time.
private struct AudioMeter {
    private(set) var bitsPerSecond = 0
    private var windowStart: Int64?
    private var byteCount = 0

    private static let ticksPerSecond: Int64 = 48_000
    private static let window = 5 * ticksPerSecond
    /// What encoders exceed their setting by.
    static let tolerance = 1.1

    /// Counts one frame; true when a window is full and `bitsPerSecond` new.
    mutating func add(byteCount: Int, at time: Int64) -> Bool {
        guard let start = windowStart, time >= start, time - start <= 2 * Self.window else {
            (windowStart, self.byteCount) = (time, byteCount)
            return false
        }
        guard time - start >= Self.window else {
            self.byteCount += byteCount
            return false
        }
        bitsPerSecond = self.byteCount * 8 * Int(Self.ticksPerSecond) / Int(time - start)
        (windowStart, self.byteCount) = (time, byteCount)
        return true
    }
}
