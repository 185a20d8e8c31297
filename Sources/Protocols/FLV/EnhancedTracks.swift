import Wire

/// The tracks of an Enhanced RTMP message, one after another where they lie (Enhanced RTMP v2, ExVideoTagBody, ExAudioTagBody).
///
/// Messages of one track and of several are read the same way, and allocate nothing. The order of tracks says nothing about
/// quality, and track 0 may be missing.
struct EnhancedTracks: Equatable, Sendable {
    /// One of them: its codec, its number, and where its payload lies in the message.
    struct Track {
        var fourCC: FourCC
        var id: UInt8
        var body: Range<Int>
    }

    /// What stands before a payload.
    private enum Layout: Equatable {
        /// Its code: the message has no multitrack head.
        case single
        /// Its code and number (AvMultitrackType 0).
        case oneTrack
        /// Its number and size; one code stood before all of them (1).
        case manyTracks(FourCC)
        /// Its code, number and size (2).
        case manyTracksManyCodecs
    }

    private let layout: Layout
    /// Where the next one begins.
    private var offset: Int
    private var count = 0

    /// More than any encoder sends at once: OBS has ten at most, each in messages of its own.
    static let maximumCount = 16

    /// Reads what stands before the first track.
    /// - Parameter packetType: the message's; behind it that of the tracks, where a message of several says it once more.
    init(_ packetType: inout UInt8, multitrackPacketType: UInt8, from reader: inout ByteReader) throws(FLVError) {
        if packetType == multitrackPacketType {
            guard let types = reader.read(UInt8.self) else { throw .truncated }
            packetType = types & 0x0F
            guard packetType != multitrackPacketType else { throw .nestedMultitrack }
            switch types >> 4 {
            case 0: layout = .oneTrack
            case 1: layout = .manyTracks(try reader.nextFourCC())
            case 2: layout = .manyTracksManyCodecs
            case let type: throw .unsupportedMultitrackType(type)
            }
        } else {
            layout = .single
        }
        offset = reader.offset
    }

    /// The first or next track of `message`; nil after the last.
    mutating func next(in message: RawSpan) throws(FLVError) -> Track? {
        guard count == 0 || offset < message.byteCount else { return nil }
        guard count < Self.maximumCount else { throw .tooManyTracks }
        count += 1
        var reader = ByteReader(message)
        guard reader.skip(offset) else { throw .truncated }
        let fourCC = if case .manyTracks(let shared) = layout { shared } else { try reader.nextFourCC() }
        guard let id = layout == .single ? 0 : reader.read(UInt8.self) else { throw .truncated }
        let size = try nextSize(from: &reader)
        let start = reader.offset
        guard reader.skip(size) else { throw .overlong }
        offset = reader.offset
        return Track(fourCC: fourCC, id: id, body: start..<offset)
    }

    private func nextSize(from reader: inout ByteReader) throws(FLVError) -> Int {
        switch layout {
        case .single, .oneTrack: return reader.remaining
        case .manyTracks, .manyTracksManyCodecs:
            guard let size = reader.readUInt24() else { throw .truncated }
            return Int(size)
        }
    }
}

/// What may stand before the packet type of an Enhanced RTMP message (Enhanced RTMP v2, "ModEx").
enum Modifiers {
    /// TimestampOffsetNano adds less than a millisecond; more is not believed.
    static let maximumNanosecondOffset: UInt32 = 999_999
    private static let modExPacketType: UInt8 = 7

    /// Reads ModEx prefixes: the offset they add, and the packet type that stands after the last of them.
    static func read(
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
