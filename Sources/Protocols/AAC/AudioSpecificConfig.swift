/// The AAC sequence header of RTMP (ISO/IEC 14496-3 §1.6.2.1): object type, rate and channels, and what is layered on top.
public struct AudioSpecificConfig: Equatable, Sendable {
    /// The core codec: low complexity below SBR and PS too.
    public var objectType: AudioObjectType
    /// The core's rate in Hz.
    public var sampleRate: Int
    /// channelConfiguration 0 to 15; 0 leaves the channels to a program config element.
    public var channelConfiguration: UInt8
    /// Spectral band replication is said to be in use, in either way of signalling (HE-AAC).
    public var hasSpectralBandReplication = false
    /// Parametric stereo is said to be in use (HE-AAC v2).
    public var hasParametricStereo = false
    /// The rate that SBR makes of it, where that is said.
    public var extensionSampleRate: Int?
    /// 960 samples a frame in place of 1,024.
    public var hasShortFrames = false
    /// The bytes as sent, for the decoder.
    public var bytes: [UInt8]

    /// Longer ones are refused; a program config element takes below 64 bytes.
    public static let maximumByteCount = 256

    /// Channels as the configuration names them; nil where a program config element or nothing does.
    public var channelCount: Int? {
        switch channelConfiguration {
        case 1...6: Int(channelConfiguration)
        case 7, 12, 14: 8
        case 11: 7
        default: nil
        }
    }

    /// AAC-LC with nothing on top: what this gateway decodes.
    public var isLowComplexity: Bool {
        objectType == .lowComplexity && !hasSpectralBandReplication && !hasParametricStereo
    }

    /// Samples of each frame at `sampleRate`.
    public var samplesPerFrame: Int { hasShortFrames ? 960 : 1_024 }

    /// AAC-LC as an encoder announces it in its shortest form; nil for a rate without an index.
    public init?(lowComplexityAt sampleRate: Int, channelCount: Int) {
        guard let index = Self.sampleRates.firstIndex(of: sampleRate), (1...6).contains(channelCount) else { return nil }
        let bits = UInt16(2) << 11 | UInt16(index) << 7 | UInt16(channelCount) << 3
        (objectType, self.sampleRate, channelConfiguration) = (.lowComplexity, sampleRate, UInt8(channelCount))
        bytes = [UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits)]
    }

    /// samplingFrequencyIndex 0 to 12 (table 1.18).
    static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
}
