import Wire

/// The head of an audio message's body, legacy (FLV 10.1 §E.4.2) or Enhanced RTMP v2; the payload stays where it is.
public struct AudioTag: Equatable, Sendable {
    public enum Packet: Equatable, Sendable {
        /// `body` is the AudioSpecificConfig or OpusHead.
        case sequenceStart
        /// `body` is one frame without ADTS or Ogg around it.
        case codedFrames
        case sequenceEnd
        case multichannelConfiguration
        /// A multitrack message without track 0.
        case otherTracks
        case reserved(UInt8)
    }

    public var codec: AudioCodec
    public var packet: Packet
    /// Added to the message's timestamp, 0 to 999,999 ns.
    public var nanosecondOffset: UInt32 = 0
    /// The payload, as offsets into the message's body.
    public var body: Range<Int>
    public var ignoredTrackCount = 0

    private static let enhancedSoundFormat: UInt8 = 9
    private static let multitrackPacketType: UInt8 = 5

    /// - Throws: `.truncated` and the others of `FLVError`; codecs and packet types that nobody knows are values, not errors.
    public init(parsing message: RawSpan) throws(FLVError) {
        var reader = ByteReader(message)
        guard let first = reader.read(UInt8.self) else { throw .truncated }
        if first >> 4 == Self.enhancedSoundFormat {
            try self.init(enhancedPacketType: first & 0x0F, from: &reader)
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

    private init(enhancedPacketType: UInt8, from reader: inout ByteReader) throws(FLVError) {
        var (packetType, offset) = try EnhancedTag.readModifiers(enhancedPacketType, from: &reader)
        nanosecondOffset = offset
        let tag: EnhancedTag
        if packetType == Self.multitrackPacketType {
            guard let types = reader.read(UInt8.self) else { throw .truncated }
            packetType = types & 0x0F
            guard packetType != Self.multitrackPacketType else { throw .nestedMultitrack }
            tag = try EnhancedTag(multitrackType: types >> 4, from: &reader)
        } else {
            tag = try EnhancedTag(singleTrackFrom: &reader)
        }
        (codec, ignoredTrackCount) = (AudioCodec(tag.fourCC), tag.ignoredTrackCount)
        packet = tag.body == nil ? .otherTracks : Packet(enhancedType: packetType)
        body = tag.body ?? 0..<0
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
