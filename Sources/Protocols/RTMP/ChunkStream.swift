import Wire

/// What one chunk stream remembers from chunk to chunk (RTMP 1.0 §5.3.1.2).
///
/// A plain value: the memory in which its message is put together is the reader's.
struct ChunkStream {
    /// A format 3 chunk that begins a message repeats the last delta, and after a format 0 header that is its timestamp
    /// (§5.3.1.2.4): librtmp means 0 then, so only what can be a frame's duration is taken for one.
    private static let maximumImpliedDelta: UInt32 = 1_000

    let id: UInt32
    private(set) var timestamp: UInt32 = 0
    private(set) var timestampDelta: UInt32 = 0
    private(set) var messageLength: UInt32 = 0
    private(set) var messageType: UInt8 = 0
    private(set) var messageStreamID: UInt32 = 0
    /// Of the last header, if it had one.
    private var extendedTimestamp: ExtendedTimestamp?
    /// How much of the message under way has come.
    var receivedByteCount: UInt32 = 0

    init(id: UInt32) { self.id = id }

    var isInsideMessage: Bool { receivedByteCount > 0 }
    var remainingByteCount: UInt32 { messageLength - receivedByteCount }

    /// The message that the last header described.
    func message(of payload: UnsafeRawBufferPointer) -> RTMPMessage {
        unsafe RTMPMessage(type: messageType, timestamp: timestamp, streamID: messageStreamID, payload: payload)
    }

    /// Reads the message header behind the basic header.
    /// - Returns: false, with nothing changed, when more bytes are needed.
    mutating func readHeader(format: UInt8, from reader: inout ByteReader) throws(RTMPError) -> Bool {
        guard format < 3 else { return readRepeatedHeader(from: &reader) }
        guard !isInsideMessage else { throw .headerInsideMessage }
        guard let field = reader.readUInt24() else { return false }
        var (length, type, streamID) = (messageLength, messageType, messageStreamID)
        if format < 2 {
            guard let newLength = reader.readUInt24(), let newType = reader.read(UInt8.self) else { return false }
            (length, type) = (newLength, newType)
        }
        if format == 0 {
            guard let littleEndian = reader.read(UInt32.self) else { return false }
            streamID = littleEndian.byteSwapped
        }
        var extended: ExtendedTimestamp?
        if field == ExtendedTimestamp.mark {
            guard let value = reader.read(UInt32.self) else { return false }
            extended = ExtendedTimestamp(value: value)
        }
        (messageLength, messageType, messageStreamID, extendedTimestamp) = (length, type, streamID, extended)
        setTime(extended?.value ?? field, isAbsolute: format == 0)
        return true
    }

    private mutating func setTime(_ time: UInt32, isAbsolute: Bool) {
        if isAbsolute {
            timestamp = time
            timestampDelta = time <= Self.maximumImpliedDelta ? time : 0
        } else {
            timestampDelta = time
            timestamp &+= time
        }
    }

    /// A format 3 chunk goes on with a message, or begins one with the header of the last.
    private mutating func readRepeatedHeader(from reader: inout ByteReader) -> Bool {
        var repeated: UInt32?
        if let extendedTimestamp {
            let isExpected = remainingByteCount >= 4
            switch extendedTimestamp.repetition(
                in: &reader, isInsideMessage: isInsideMessage, timestamp: timestamp, isExpected: isExpected)
            {
            case .needsMore: return false
            case .absent: break
            case .field(let field): repeated = field
            }
        }
        guard !isInsideMessage else { return true }
        if let repeated, repeated != extendedTimestamp?.value {
            timestamp = repeated
        } else {
            timestamp &+= timestampDelta
        }
        return true
    }
}

/// The first one to three bytes of a chunk: header format and chunk stream id (RTMP 1.0 §5.3.1.1).
struct ChunkBasicHeader: Equatable {
    /// 0 to 3: how much of the message header follows.
    var format: UInt8
    /// 2 to 65,599.
    var chunkStreamID: UInt32

    /// Nil when more bytes are needed.
    static func read(from reader: inout ByteReader) -> ChunkBasicHeader? {
        guard let first = reader.read(UInt8.self) else { return nil }
        let format = first >> 6
        switch first & 0x3F {
        case 0:
            guard let second = reader.read(UInt8.self) else { return nil }
            return ChunkBasicHeader(format: format, chunkStreamID: UInt32(second) + 64)
        case 1:
            guard let littleEndian = reader.read(UInt16.self) else { return nil }
            return ChunkBasicHeader(format: format, chunkStreamID: UInt32(littleEndian.byteSwapped) + 64)
        case let id: return ChunkBasicHeader(format: format, chunkStreamID: UInt32(id))
        }
    }

    func write(into bytes: inout [UInt8]) {
        switch chunkStreamID {
        case ..<64: bytes.append(format << 6 | UInt8(chunkStreamID))
        case ..<320: bytes += [format << 6, UInt8(chunkStreamID - 64)]
        default:
            let id = UInt16(truncatingIfNeeded: chunkStreamID - 64)
            bytes += [format << 6 | 1, UInt8(truncatingIfNeeded: id), UInt8(truncatingIfNeeded: id >> 8)]
        }
    }
}
