import Wire

/// One FLV tag (FLV 10.1 §E.4.1), its payload as offsets into the bytes it was read from.
public struct FLVTag: Equatable, Sendable {
    /// 8 audio, 9 video, 18 script data: the same numbers as RTMP message types.
    public var type: UInt8
    /// Milliseconds, all 32 bits.
    public var timestamp: UInt32
    /// The payload, as offsets into the bytes that the tag was read from.
    public var body: Range<Int>

    /// From its parts.
    public init(type: UInt8, timestamp: UInt32, body: Range<Int>) {
        (self.type, self.timestamp, self.body) = (type, timestamp, body)
    }

    /// Bytes of a tag's header, and of the back pointer behind its body.
    public static let headerByteCount = 11
    /// Bytes of the back pointer behind each tag (PreviousTagSize).
    public static let backPointerByteCount = 4

    /// The tag at `offset` of an FLV body or of an aggregate message; nil at the end.
    ///
    /// The back pointer behind the last tag may be missing: some encoders leave it out of aggregates.
    /// - Parameter offset: moved behind the tag.
    /// - Throws: `.truncated` for a piece of a header, `.overlong` for a body that is longer than what is left.
    public static func next(in bytes: RawSpan, at offset: inout Int) throws(FLVError) -> FLVTag? {
        var reader = ByteReader(bytes.extracting(offset..<bytes.byteCount))
        if reader.isAtEnd { return nil }
        guard let type = reader.read(UInt8.self), let size = reader.readUInt24(), let low = reader.readUInt24(),
            let high = reader.read(UInt8.self), reader.skip(3)
        else { throw .truncated }
        let start = offset + headerByteCount
        guard reader.skip(Int(size)) else { throw .overlong }
        offset = min(start + Int(size) + backPointerByteCount, bytes.byteCount)
        return FLVTag(type: type & 0x1F, timestamp: UInt32(high) << 24 | low, body: start..<start + Int(size))
    }
}

/// Why the body of an audio or video message is not what FLV or Enhanced RTMP describe.
public enum FLVError: Error, Equatable, Sendable {
    /// The bytes end inside a head.
    case truncated
    /// A track of a multitrack message, or a tag of an aggregate, is longer than what holds it.
    case overlong
    /// A multitrack message inside a multitrack message, which Enhanced RTMP v2 forbids.
    case nestedMultitrack
    /// An AvMultitrackType that Enhanced RTMP v2 does not have.
    case unsupportedMultitrackType(UInt8)
    /// More tracks in one message than any encoder sends.
    case tooManyTracks
}
