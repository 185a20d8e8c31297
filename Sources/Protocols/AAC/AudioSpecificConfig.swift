import Wire

/// The AAC sequence header of RTMP (ISO/IEC 14496-3 §1.6.2.1): object type, rate and channels, and what is layered on top.
///
///     let config = try AudioSpecificConfig(parsing: body)
///     guard config.isLowComplexity, config.channelCount == 2 else { … }
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
    /// 960 samples a frame in place of 1,024.
    public var hasShortFrames = false
    /// The bytes as sent.
    public var bytes: [UInt8]
    /// Channels of the program config element, where there is one.
    private var programChannelCount: Int?

    /// Longer ones are refused; a program config element takes below 64 bytes.
    public static let maximumByteCount = 256

    /// Channels as the configuration or its program config element names them; nil where neither does.
    public var channelCount: Int? {
        switch channelConfiguration {
        case 0: programChannelCount
        case 1...6: Int(channelConfiguration)
        case 7, 12, 14: 8
        case 11: 7
        case 13: 24
        default: nil
        }
    }

    /// AAC-LC with nothing on top: what this gateway decodes.
    public var isLowComplexity: Bool {
        objectType == .lowComplexity && !hasSpectralBandReplication && !hasParametricStereo
    }

    /// The bytes for decoders. libavcodec takes no frequency that is told in full, in place of its number.
    public var bytesForDecoders: [UInt8] {
        // Of low complexity the frequency's four bits begin at the sixth.
        let isToldInFull = bytes.count > 2 && bytes[0] & 0x07 == 0x07 && bytes[1] & 0x80 != 0
        guard isToldInFull, isLowComplexity, !hasShortFrames else { return bytes }
        return AudioSpecificConfig(lowComplexityAt: sampleRate, channelCount: Int(channelConfiguration))?.bytes ?? bytes
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

extension AudioSpecificConfig {
    /// Parses the body of the sequence header, with explicit SBR and PS (object types 5 and 29) and the backward
    /// compatible extension (sync 0x2B7), whose sbrPresentFlag 0, as OBS and ffmpeg send it, means plain AAC-LC.
    /// - Throws: `.truncated`, `.reservedFrequency`, `.tooLong`.
    public init(parsing record: RawSpan) throws(AACError) {
        guard record.byteCount <= Self.maximumByteCount else { throw .tooLong }
        bytes = [UInt8](copying: record)
        var cursor = BitCursor(bytes)
        objectType = try Self.objectType(from: &cursor)
        sampleRate = try Self.frequency(from: &cursor)
        channelConfiguration = UInt8(try Self.bits(4, from: &cursor))
        if objectType == .spectralBandReplication || objectType == .parametricStereo {
            hasSpectralBandReplication = true
            hasParametricStereo = objectType == .parametricStereo
            _ = try Self.frequency(from: &cursor)  // extensionSamplingFrequency
            objectType = try Self.objectType(from: &cursor)
            if objectType.rawValue == 22 { _ = try Self.bits(4, from: &cursor) }
        }
        guard Self.hasGeneralConfig(objectType) else { return }
        hasShortFrames = try Self.bits(1, from: &cursor) == 1
        if try Self.bits(1, from: &cursor) == 1 { _ = try Self.bits(14, from: &cursor) }  // dependsOnCoreCoder
        _ = try Self.bits(1, from: &cursor)  // extensionFlag
        if channelConfiguration == 0 {
            guard let count = Self.channelCount(ofProgramIn: &cursor) else { return }
            programChannelCount = count
        }
        if !hasSpectralBandReplication { readSyncExtension(&cursor) }
    }

    /// A program config element (§4.4.1.1), such as ffmpeg's of `5.1(side)`; nil where it names no channels, or is cut short.
    private static func channelCount(ofProgramIn cursor: inout BitCursor) -> Int? {
        guard cursor.skip(10),  // element_instance_tag, object_type, sampling_frequency_index
            let front = cursor.read(4), let side = cursor.read(4), let back = cursor.read(4), let lowFrequency = cursor.read(2),
            let associatedData = cursor.read(3), let coupling = cursor.read(4)
        else { return nil }
        for bitCount in [4, 4, 3] {  // mono, stereo and matrix mixdown
            guard let isPresent = cursor.read(1), isPresent == 0 || cursor.skip(bitCount) else { return nil }
        }
        var count = Int(lowFrequency)
        for _ in 0..<(front + side + back) {
            guard let isPair = cursor.read(1), cursor.skip(4) else { return nil }
            count += isPair == 1 ? 2 : 1
        }
        guard count > 0, cursor.skip(Int(4 * (lowFrequency + associatedData) + 5 * coupling)) else { return nil }
        cursor.align()
        if let commentByteCount = cursor.read(8) { _ = cursor.skip(8 * Int(commentByteCount)) }
        return count
    }

    /// The extension after the core's own configuration (§1.6.6.1); absent or cut short it changes nothing.
    private mutating func readSyncExtension(_ cursor: inout BitCursor) {
        let spectralBandReplicationSync: UInt32 = 0x2B7
        let parametricStereoSync: UInt32 = 0x548
        guard cursor.read(11) == spectralBandReplicationSync,
            let type = try? Self.objectType(from: &cursor), type == .spectralBandReplication, cursor.read(1) == 1
        else { return }
        hasSpectralBandReplication = true
        _ = try? Self.frequency(from: &cursor)  // extensionSamplingFrequency
        if cursor.read(11) == parametricStereoSync { hasParametricStereo = cursor.read(1) == 1 }
    }

    private static func hasGeneralConfig(_ type: AudioObjectType) -> Bool {
        switch type.rawValue {
        case 1, 2, 3, 4, 6, 7, 17, 19...23: true
        default: false
        }
    }

    private static func objectType(from cursor: inout BitCursor) throws(AACError) -> AudioObjectType {
        let escape: UInt32 = 31
        let type = try bits(5, from: &cursor)
        return AudioObjectType(rawValue: UInt8(type == escape ? 32 + (try bits(6, from: &cursor)) : type))
    }

    private static func frequency(from cursor: inout BitCursor) throws(AACError) -> Int {
        let explicit: UInt32 = 15
        let index = try bits(4, from: &cursor)
        let frequency = index == explicit ? Int(try bits(24, from: &cursor)) : nil
        if let frequency, frequency > 0 { return frequency }
        guard index < sampleRates.count else { throw .reservedFrequency }
        return sampleRates[Int(index)]
    }

    private static func bits(_ count: Int, from cursor: inout BitCursor) throws(AACError) -> UInt32 {
        guard let value = cursor.read(count) else { throw .truncated }
        return value
    }
}

/// audioObjectType (ISO/IEC 14496-3 table 1.17): which AAC it is.
public struct AudioObjectType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// AAC Main.
    public static let main = AudioObjectType(rawValue: 1)
    /// AAC-LC: what RTMP encoders send.
    public static let lowComplexity = AudioObjectType(rawValue: 2)
    /// Spectral band replication: HE-AAC.
    public static let spectralBandReplication = AudioObjectType(rawValue: 5)
    /// ER AAC LD.
    public static let lowDelay = AudioObjectType(rawValue: 23)
    /// Parametric stereo: HE-AAC v2.
    public static let parametricStereo = AudioObjectType(rawValue: 29)
    /// ER AAC ELD.
    public static let enhancedLowDelay = AudioObjectType(rawValue: 39)
    /// USAC (xHE-AAC).
    public static let unifiedSpeechAndAudio = AudioObjectType(rawValue: 42)
}

/// What can be wrong with an AudioSpecificConfig from a peer.
public enum AACError: Error, Equatable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// samplingFrequencyIndex 13 or 14, or a frequency of 0.
    case reservedFrequency
    /// More bytes than any configuration needs.
    case tooLong
}

/// A big-endian bit cursor over a few bytes; nil at the end.
private struct BitCursor {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var remaining: Int { 8 * bytes.count - position }

    /// - Returns: false, with nothing skipped, where fewer bits are left.
    mutating func skip(_ count: Int) -> Bool {
        guard remaining >= count else { return false }
        position += count
        return true
    }

    /// Goes on at the next whole byte.
    mutating func align() { position = (position + 7) / 8 * 8 }

    mutating func read(_ count: Int) -> UInt32? {
        guard remaining >= count else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 1 | UInt32(bytes[position / 8] >> UInt8(7 - position % 8) & 1)
            position += 1
        }
        return value
    }
}
