import Wire

/// What ExVideoTagHeader and ExAudioTagHeader have in common: modifiers first, then one track or several (Enhanced RTMP v2).
struct EnhancedTag {
    /// TimestampOffsetNano adds less than a millisecond; more is not believed.
    static let maximumNanosecondOffset: UInt32 = 999_999
    private static let modExPacketType: UInt8 = 7

    var fourCC = FourCC(rawValue: 0)
    /// Where track 0 lies in the message; nil when only other tracks came.
    var body: Range<Int>?
    /// Tracks that were passed over.
    var ignoredTrackCount = 0

    /// Reads ModEx prefixes: the offset they add, and the packet type that stands after the last of them.
    static func readModifiers(
        _ packetType: UInt8, from reader: inout ByteReader
    ) throws(FLVError) -> (packetType: UInt8, nanosecondOffset: UInt32) {
        var packetType = packetType
        var offset: UInt32 = 0
        while packetType == modExPacketType {
            guard let shortSize = reader.read(UInt8.self) else { throw .truncated }
            var size = Int(shortSize) + 1
            if size == 256 {
                guard let longSize = reader.read(UInt16.self) else { throw .truncated }
                size = Int(longSize) + 1
            }
            guard let data = reader.readSpan(count: size), let types = reader.read(UInt8.self) else { throw .truncated }
            var dataReader = ByteReader(data)
            if types >> 4 == 0, let nanoseconds = dataReader.readUInt24(), nanoseconds <= maximumNanosecondOffset {
                offset = nanoseconds
            }
            packetType = types & 0x0F
        }
        return (packetType, offset)
    }

    /// What follows the modifiers: one track or several.
    /// - Parameter packetType: the message's; behind it that of the tracks, where a message of several says it once more.
    init(
        _ packetType: inout UInt8, multitrackPacketType: UInt8, from reader: inout ByteReader
    ) throws(FLVError) {
        guard packetType == multitrackPacketType else {
            try self.init(singleTrackFrom: &reader)
            return
        }
        guard let types = reader.read(UInt8.self) else { throw .truncated }
        packetType = types & 0x0F
        guard packetType != multitrackPacketType else { throw .nestedMultitrack }
        try self.init(multitrackType: types >> 4, from: &reader)
    }

    /// A message of one track: FourCC and body.
    private init(singleTrackFrom reader: inout ByteReader) throws(FLVError) {
        fourCC = try reader.nextFourCC()
        body = reader.offset..<reader.offset + reader.remaining
    }

    /// A multitrack message after its type byte: track 0 is found, the others are counted.
    /// The order of tracks says nothing about quality, and track 0 may be missing.
    private init(multitrackType: UInt8, from reader: inout ByteReader) throws(FLVError) {
        switch multitrackType {
        case 0:
            fourCC = try reader.nextFourCC()
            guard let trackID = reader.read(UInt8.self) else { throw .truncated }
            take(reader.offset..<reader.offset + reader.remaining, fourCC, trackID: trackID)
        case 1:
            let shared = try reader.nextFourCC()
            repeat { try takeSizedTrack(shared, from: &reader) } while !reader.isAtEnd
        case 2:
            repeat { try takeSizedTrack(try reader.nextFourCC(), from: &reader) } while !reader.isAtEnd
        default: throw .unsupportedMultitrackType(multitrackType)
        }
    }

    private mutating func takeSizedTrack(_ fourCC: FourCC, from reader: inout ByteReader) throws(FLVError) {
        guard let trackID = reader.read(UInt8.self), let size = reader.readUInt24() else { throw .truncated }
        let start = reader.offset
        guard reader.skip(Int(size)) else { throw .overlong }
        take(start..<start + Int(size), fourCC, trackID: trackID)
    }

    private mutating func take(_ range: Range<Int>, _ fourCC: FourCC, trackID: UInt8) {
        if trackID == 0, body == nil {
            (body, self.fourCC) = (range, fourCC)
        } else {
            if body == nil { self.fourCC = fourCC }
            ignoredTrackCount += 1
        }
    }
}

extension ByteReader {
    fileprivate mutating func nextFourCC() throws(FLVError) -> FourCC {
        guard let code = read(UInt32.self) else { throw .truncated }
        return FourCC(rawValue: code)
    }
}

/// A codec's four-character code (Enhanced RTMP v2, "Extended VideoTagHeader").
public struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The four bytes, the first one in the high bits.
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// From the first four bytes of `value`.
    public init(stringLiteral value: StaticString) {
        rawValue = value.withUTF8Buffer { text in unsafe text.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The four characters; what is not printable ASCII becomes `?`, so that it can stand in a log or a message.
    public var description: String {
        String(
            decoding: [24, 16, 8, 0].map { shift in
                let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
                return (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
            }, as: UTF8.self)
    }
}
