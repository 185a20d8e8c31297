public import AAC
import Settings
import Wire

/// What the monitor remembers of an audio track.
struct AudioState {
    var isPresent = false
    var configuration: AudioSpecificConfig?
    var meter = AudioMeter()
}

extension ContractMonitor {
    /// The codec that signalling names, when it is neither AAC nor Opus.
    public mutating func audioCodecAnnounced(_ name: String, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        audio.isPresent = true
        found(.audioCodec(name: name), at: moment.arrival)
    }

    /// The AAC sequence header.
    public mutating func audioConfiguration(_ configuration: AudioSpecificConfig, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard configuration != audio.configuration else { return }
        audio.configuration = configuration
        judge(configuration, at: moment.arrival)
    }

    /// The decoder found another rate than the sequence header says: SBR inside what claims to be AAC-LC.
    public mutating func hiddenReplicationFound(at moment: MediaMoment) {
        found(.audioCodec(name: "HE-AAC"), at: moment.arrival, isFinal: true)
    }

    /// The sequence start of Opus by Enhanced RTMP.
    public mutating func opusConfiguration(channelCount: Int, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        guard channelCount > Self.maximumAudioChannelCount else { return }
        found(.audioFormat(sampleRate: 48_000, channelCount: channelCount), at: moment.arrival)
    }

    /// One AAC frame or Opus packet.
    public mutating func audioFrame(byteCount: Int, at moment: MediaMoment) {
        mediaCame(at: moment.arrival)
        audio.isPresent = true
        guard !isOver, audio.meter.add(byteCount: byteCount, at: moment.mediaTime) else { return }
        if Double(audio.meter.bitsPerSecond) > Double(rules.audioBitrate.limit) * AudioMeter.tolerance {
            found(.audioBitrate(bitsPerSecond: audio.meter.bitsPerSecond), at: moment.arrival)
        }
    }

    mutating func judge(_ configuration: AudioSpecificConfig, at now: MonotonicTime) {
        if !configuration.isLowComplexity { found(.audioCodec(name: Self.name(of: configuration)), at: now) }
        let channelCount = configuration.channelCount
        let isAdmitted =
            Self.audioSampleRates.contains(configuration.sampleRate)
            && channelCount.map { $0 <= Self.maximumAudioChannelCount } ?? true
        if configuration.isLowComplexity, !isAdmitted {
            found(.audioFormat(sampleRate: configuration.sampleRate, channelCount: channelCount ?? 0), at: now)
        }
    }

    private static func name(of configuration: AudioSpecificConfig) -> String {
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
