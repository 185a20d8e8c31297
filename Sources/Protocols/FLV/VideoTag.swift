import Wire

/// One track of a video message's body, legacy (FLV 10.1 §E.4.3) or Enhanced RTMP v1 and v2; the payload stays where it is.
///
///     var tag: VideoTag? = try VideoTag(parsing: message)
///     while let track = tag {
///         if track.codec == .h264, track.packet == .codedFrames {
///             feed(track.trackID, track.body, after: track.compositionTime)
///         }
///         tag = try track.next(in: message)
///     }
public struct VideoTag: Equatable, Sendable {
    /// What kind of frame follows (UB[4] FrameType, FLV 10.1 §E.4.3.1).
    public enum FrameType: Equatable, Sendable {
        /// 1 to 5, in this order.
        case key, inter, disposableInter, generatedKey, command
        /// Another number.
        case reserved(UInt8)
    }

    /// What follows the head (AVCPacketType, VideoPacketType).
    public enum Packet: Equatable, Sendable {
        /// `body` is the decoder configuration record.
        case sequenceStart
        /// `body` is one access unit in the codec's own framing.
        case codedFrames
        /// Nothing follows: the sequence has ended.
        case sequenceEnd
        /// `body` is AMF: colour information and the like.
        case metadata
        /// A sequence start in the form of MPEG-2 TS; not read here.
        case mpeg2TSSequenceStart
        /// A seek mark of players; nothing follows.
        case command
        /// A packet type that nobody knows, by its number.
        case reserved(UInt8)
    }

    /// What the payload is coded with.
    public var codec: VideoCodec
    /// Whether a decoder can start here.
    public var frameType: FrameType
    /// What the payload is.
    public var packet: Packet
    /// Presentation minus decoding time in milliseconds, signed 24 bits on the wire.
    public var compositionTime: Int32 = 0
    /// Added to the message's timestamp, 0 to 999,999 ns.
    public var nanosecondOffset: UInt32 = 0
    /// The payload, as offsets into the message's body.
    public var body: Range<Int>
    /// Whose it is; 0 in messages that name none.
    public var trackID: UInt8 = 0

    /// What follows in the message; nil after a legacy head.
    private var others: EnhancedTracks?
    private var hasCompositionTime = false

    private static let codedFramesPacketType: UInt8 = 1
    private static let multitrackPacketType: UInt8 = 6
    private static let metadataPacketType: UInt8 = 4

    /// The first track of a message, which is the only one in nearly all.
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
        var (packetType, offset) = try Modifiers.read(enhancedPacketType, from: &reader)
        (self.frameType, nanosecondOffset) = (frameType, offset)
        if frameType == .command, packetType != Self.metadataPacketType {
            (codec, packet, body) = (.unknownCodecID(0), .command, reader.offset..<reader.offset)
            return
        }
        var tracks = try EnhancedTracks(&packetType, multitrackPacketType: Self.multitrackPacketType, from: &reader)
        guard let track = try tracks.next(in: message) else { throw .truncated }
        (packet, hasCompositionTime) = (Packet(enhancedType: packetType), packetType == Self.codedFramesPacketType)
        (codec, body, others) = (VideoCodec(track.fourCC), track.body, tracks)
        try take(track, of: message)
    }

    /// The next track of the same message; nil after the last.
    /// - Throws: as `init(parsing:)`; the tracks before it stand.
    public func next(in message: RawSpan) throws(FLVError) -> VideoTag? {
        guard var tracks = others, let track = try tracks.next(in: message) else { return nil }
        var tag = self
        tag.others = tracks
        try tag.take(track, of: message)
        return tag
    }

    private mutating func take(_ track: EnhancedTracks.Track, of message: RawSpan) throws(FLVError) {
        (codec, trackID, body, compositionTime) = (VideoCodec(track.fourCC), track.id, track.body, 0)
        guard hasCompositionTime, codec.hasCompositionTime else { return }
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

/// What a video message carries. H.264 is taken; the others are known so that they can be refused by name.
public enum VideoCodec: Hashable, Sendable {
    /// What Enhanced RTMP v2 has codes for.
    case h264, hevc, vvc, av1, vp8, vp9
    /// Legacy codecs of FLV.
    case jpeg, sorensonH263, screenVideo, vp6, vp6Alpha, screenVideo2
    /// A legacy CodecID that FLV reserves.
    case unknownCodecID(UInt8)
    /// A code that Enhanced RTMP v2 does not name.
    case unknownFourCC(FourCC)

    /// From CodecID of the legacy VideoTagHeader (FLV 10.1 §E.4.3.1). 12 and 13 are an extension seen from Asian encoders.
    init(codecID: UInt8) {
        switch codecID {
        case 1: self = .jpeg
        case 2: self = .sorensonH263
        case 3: self = .screenVideo
        case 4: self = .vp6
        case 5: self = .vp6Alpha
        case 6: self = .screenVideo2
        case 7: self = .h264
        case 12: self = .hevc
        case 13: self = .av1
        default: self = .unknownCodecID(codecID)
        }
    }

    init(_ fourCC: FourCC) {
        switch fourCC {
        case "avc1": self = .h264
        case "hvc1": self = .hevc
        case "vvc1": self = .vvc
        case "av01": self = .av1
        case "vp08": self = .vp8
        case "vp09": self = .vp9
        default: self = .unknownFourCC(fourCC)
        }
    }

    /// CodedFrames carries a composition time for these (Enhanced RTMP v2, ExVideoTagBody).
    var hasCompositionTime: Bool {
        switch self {
        case .h264, .hevc, .vvc: true
        default: false
        }
    }

    /// As a user knows it.
    public var name: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "HEVC (H.265)"
        case .vvc: "VVC (H.266)"
        case .av1: "AV1"
        case .vp8: "VP8"
        case .vp9: "VP9"
        case .jpeg: "JPEG"
        case .sorensonH263: "Sorenson H.263 (FLV1)"
        case .screenVideo, .screenVideo2: "Flash Screen"
        case .vp6, .vp6Alpha: "VP6"
        case .unknownCodecID(let id): "codec \(id)"
        case .unknownFourCC(let code): "codec \(code)"
        }
    }
}
