import Wire

/// The head of a video message's body, legacy (FLV 10.1 §E.4.3) or Enhanced RTMP v1 and v2; the payload stays where it is.
public struct VideoTag: Equatable, Sendable {
    public enum FrameType: Equatable, Sendable {
        case key, inter, disposableInter, generatedKey, command
        case reserved(UInt8)
    }

    public enum Packet: Equatable, Sendable {
        /// `body` is the decoder configuration record.
        case sequenceStart
        /// `body` is one access unit in the codec's own framing.
        case codedFrames
        case sequenceEnd
        /// `body` is AMF: colour information and the like.
        case metadata
        case mpeg2TSSequenceStart
        /// A seek mark of players; nothing follows.
        case command
        /// A multitrack message without track 0.
        case otherTracks
        case reserved(UInt8)
    }

    public var codec: VideoCodec
    public var frameType: FrameType
    public var packet: Packet
    /// Presentation minus decoding time in milliseconds, signed 24 bits on the wire.
    public var compositionTime: Int32 = 0
    /// Added to the message's timestamp, 0 to 999,999 ns.
    public var nanosecondOffset: UInt32 = 0
    /// The payload, as offsets into the message's body.
    public var body: Range<Int>
    public var ignoredTrackCount = 0

    private static let codedFramesPacketType: UInt8 = 1
    private static let multitrackPacketType: UInt8 = 6
    private static let metadataPacketType: UInt8 = 4

    /// - Throws: `.truncated` and the others of `FLVError`; codecs and packet types that nobody knows are values, not errors.
    public init(parsing message: RawSpan) throws(FLVError) {
        var reader = ByteReader(message)
        guard let first = reader.read(UInt8.self) else { throw .truncated }
        let frameType = FrameType(first >> 4 & 0x07)
        if first & 0x80 == 0 {
            try self.init(legacyCodecID: first & 0x0F, frameType, from: &reader)
        } else {
            try self.init(enhancedPacketType: first & 0x0F, frameType, of: message, from: &reader)
        }
    }

    private init(
        legacyCodecID codecID: UInt8, _ frameType: FrameType, from reader: inout ByteReader
    ) throws(FLVError) {
        (codec, self.frameType, packet) = (VideoCodec(codecID: codecID), frameType, .codedFrames)
        if frameType == .command {
            packet = .command
        } else if codec.hasCompositionTime {
            guard let type = reader.read(UInt8.self) else { throw .truncated }
            packet = Packet(legacyType: type)
            compositionTime = try reader.nextCompositionTime()
        }
        body = reader.offset..<reader.offset + reader.remaining
    }

    private init(
        enhancedPacketType: UInt8, _ frameType: FrameType, of message: RawSpan, from reader: inout ByteReader
    ) throws(FLVError) {
        var (packetType, offset) = try EnhancedTag.readModifiers(enhancedPacketType, from: &reader)
        (self.frameType, nanosecondOffset) = (frameType, offset)
        if frameType == .command, packetType != Self.metadataPacketType {
            (codec, packet, body) = (.unknownCodecID(0), .command, reader.offset..<reader.offset)
            return
        }
        let tag: EnhancedTag
        if packetType == Self.multitrackPacketType {
            guard let types = reader.read(UInt8.self) else { throw .truncated }
            packetType = types & 0x0F
            guard packetType != Self.multitrackPacketType else { throw .nestedMultitrack }
            tag = try EnhancedTag(multitrackType: types >> 4, from: &reader)
        } else {
            tag = try EnhancedTag(singleTrackFrom: &reader)
        }
        (codec, ignoredTrackCount) = (VideoCodec(tag.fourCC), tag.ignoredTrackCount)
        packet = tag.body == nil ? .otherTracks : Packet(enhancedType: packetType)
        body = tag.body ?? 0..<0
        guard packet == .codedFrames, packetType == Self.codedFramesPacketType, codec.hasCompositionTime else { return }
        var payload = ByteReader(message.extracting(body))
        compositionTime = try payload.nextCompositionTime()
        body = body.lowerBound + payload.offset..<body.upperBound
    }
}

extension VideoTag.FrameType {
    fileprivate init(_ value: UInt8) {
        switch value {
        case 1: self = .key
        case 2: self = .inter
        case 3: self = .disposableInter
        case 4: self = .generatedKey
        case 5: self = .command
        default: self = .reserved(value)
        }
    }
}

extension VideoTag.Packet {
    /// AVCPacketType.
    fileprivate init(legacyType: UInt8) {
        switch legacyType {
        case 0: self = .sequenceStart
        case 1: self = .codedFrames
        case 2: self = .sequenceEnd
        default: self = .reserved(legacyType)
        }
    }

    /// VideoPacketType; 3 is CodedFramesX, whose composition time is 0 and not sent.
    fileprivate init(enhancedType: UInt8) {
        switch enhancedType {
        case 0: self = .sequenceStart
        case 1, 3: self = .codedFrames
        case 2: self = .sequenceEnd
        case 4: self = .metadata
        case 5: self = .mpeg2TSSequenceStart
        default: self = .reserved(enhancedType)
        }
    }
}

extension ByteReader {
    /// A signed 24-bit number.
    fileprivate mutating func nextCompositionTime() throws(FLVError) -> Int32 {
        guard let value = readUInt24() else { throw .truncated }
        return Int32(bitPattern: value << 8) >> 8
    }
}
