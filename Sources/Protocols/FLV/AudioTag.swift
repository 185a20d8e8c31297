import Wire

/// One track of an audio message's body, legacy (FLV 10.1 §E.4.2) or Enhanced RTMP v2; the payload stays where it is.
public struct AudioTag: Equatable, Sendable {
    /// What follows the head (AACPacketType, AudioPacketType).
    public enum Packet: Equatable, Sendable {
        /// `body` is the AudioSpecificConfig or OpusHead.
        case sequenceStart
        /// `body` is one frame without Ogg around it, and without ADTS but for some encoders.
        case codedFrames
        /// Nothing follows: the sequence has ended.
        case sequenceEnd
        /// How channels lie in the stream; not read here.
        case multichannelConfiguration
        /// A packet type that nobody knows, by its number.
        case reserved(UInt8)
    }

    /// What the payload is coded with.
    public var codec: AudioCodec
    /// What the payload is.
    public var packet: Packet
    /// Added to the message's timestamp, 0 to 999,999 ns.
    public var nanosecondOffset: UInt32 = 0
    /// The payload, as offsets into the message's body.
    public var body: Range<Int>
    /// Whose it is; 0 in messages that name none.
    public var trackID: UInt8 = 0

    /// What follows in the message; nil after a legacy head.
    private var others: EnhancedTracks?

    private static let enhancedSoundFormat: UInt8 = 9
    private static let multitrackPacketType: UInt8 = 5

    /// The first track of a message, which is the only one in nearly all.
    /// - Throws: `.truncated` and the others of `FLVError`; codecs and packet types that nobody knows are values, not errors.
    public init(parsing message: RawSpan) throws(FLVError) {
        var reader = ByteReader(message)
        guard let first = reader.read(UInt8.self) else { throw .truncated }
        if first >> 4 == Self.enhancedSoundFormat {
            try self.init(enhancedPacketType: first & 0x0F, of: message, from: &reader)
        } else {
            try self.init(soundFormat: first >> 4, from: &reader)
        }
    }

    /// Sound rate, size and type are not looked at: AAC says them itself, and the other formats are refused.
    private init(soundFormat: UInt8, from reader: inout ByteReader) throws(FLVError) {
        (codec, packet) = (AudioCodec(soundFormat: soundFormat), .codedFrames)
        if codec == .aac {
            guard let type = reader.read(UInt8.self) else { throw .truncated }
            packet = Packet(legacyType: type)
        }
        body = reader.offset..<reader.offset + reader.remaining
    }

    private init(
        enhancedPacketType: UInt8, of message: RawSpan, from reader: inout ByteReader
    ) throws(FLVError) {
        var (packetType, offset) = try Modifiers.read(enhancedPacketType, from: &reader)
        nanosecondOffset = offset
        var tracks = try EnhancedTracks(&packetType, multitrackPacketType: Self.multitrackPacketType, from: &reader)
        guard let track = try tracks.next(in: message) else { throw .truncated }
        packet = Packet(enhancedType: packetType)
        (codec, trackID, body, others) = (AudioCodec(track.fourCC), track.id, track.body, tracks)
    }

    /// The next track of the same message; nil after the last.
    /// - Throws: as `init(parsing:)`; the tracks before it stand.
    public func next(in message: RawSpan) throws(FLVError) -> AudioTag? {
        guard var tracks = others, let track = try tracks.next(in: message) else { return nil }
        var tag = self
        (tag.codec, tag.trackID, tag.body, tag.others) = (AudioCodec(track.fourCC), track.id, track.body, tracks)
        return tag
    }
}

extension AudioTag.Packet {
    /// AACPacketType.
    fileprivate init(legacyType: UInt8) {
        switch legacyType {
        case 0: self = .sequenceStart
        case 1: self = .codedFrames
        default: self = .reserved(legacyType)
        }
    }

    /// AudioPacketType.
    fileprivate init(enhancedType: UInt8) {
        switch enhancedType {
        case 0: self = .sequenceStart
        case 1: self = .codedFrames
        case 2: self = .sequenceEnd
        case 4: self = .multichannelConfiguration
        default: self = .reserved(enhancedType)
        }
    }
}

/// What an audio message carries. AAC and Opus are taken; the others are known so that they can be refused by name.
public enum AudioCodec: Hashable, Sendable {
    /// What the gateway takes.
    case aac, opus
    /// Known by name only.
    case mp3, speex, nellymoser, pcm, adpcm, g711ALaw, g711MuLaw, ac3, eac3, flac, deviceSpecific
    /// A legacy SoundFormat that FLV reserves.
    case unknownSoundFormat(UInt8)
    /// A code that Enhanced RTMP v2 does not name.
    case unknownFourCC(FourCC)

    /// From SoundFormat of the legacy AudioTagHeader (FLV 10.1 §E.4.2.1).
    init(soundFormat: UInt8) {
        switch soundFormat {
        case 0, 3: self = .pcm
        case 1: self = .adpcm
        case 2, 14: self = .mp3
        case 4, 5, 6: self = .nellymoser
        case 7: self = .g711ALaw
        case 8: self = .g711MuLaw
        case 10: self = .aac
        case 11: self = .speex
        case 15: self = .deviceSpecific
        default: self = .unknownSoundFormat(soundFormat)
        }
    }

    init(_ fourCC: FourCC) {
        switch fourCC {
        case "mp4a": self = .aac
        case "Opus": self = .opus
        case ".mp3": self = .mp3
        case "ac-3": self = .ac3
        case "ec-3": self = .eac3
        case "fLaC": self = .flac
        default: self = .unknownFourCC(fourCC)
        }
    }

    /// As a user knows it.
    public var name: String {
        switch self {
        case .aac: "AAC"
        case .opus: "Opus"
        case .mp3: "MP3"
        case .speex: "Speex"
        case .nellymoser: "Nellymoser"
        case .pcm: "PCM"
        case .adpcm: "ADPCM"
        case .g711ALaw: "G.711 A-law"
        case .g711MuLaw: "G.711 µ-law"
        case .ac3: "AC-3"
        case .eac3: "E-AC-3"
        case .flac: "FLAC"
        case .deviceSpecific: "device-specific"
        case .unknownSoundFormat(let format): "format \(format)"
        case .unknownFourCC(let code): "codec \(code)"
        }
    }
}
