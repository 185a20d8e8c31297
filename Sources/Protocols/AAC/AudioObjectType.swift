/// audioObjectType (ISO/IEC 14496-3 table 1.17): which AAC it is.
public struct AudioObjectType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let main = AudioObjectType(rawValue: 1)
    public static let lowComplexity = AudioObjectType(rawValue: 2)
    /// Spectral band replication: HE-AAC.
    public static let spectralBandReplication = AudioObjectType(rawValue: 5)
    public static let lowDelay = AudioObjectType(rawValue: 23)
    /// Parametric stereo: HE-AAC v2.
    public static let parametricStereo = AudioObjectType(rawValue: 29)
    public static let enhancedLowDelay = AudioObjectType(rawValue: 39)
    public static let unifiedSpeechAndAudio = AudioObjectType(rawValue: 42)
}
