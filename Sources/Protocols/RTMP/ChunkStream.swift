import Wire

/// What one chunk stream remembers from chunk to chunk (RTMP 1.0 §5.3.1.2).
///
/// A plain value: the memory in which its message is put together is the reader's.
struct ChunkStream {
    /// A format 3 chunk that begins a message repeats the last delta, and after a format 0 header that is its timestamp
    /// (§5.3.1.2.4): librtmp means 0 then, so only what can be a frame's duration is taken for one.
    static let maximumImpliedDelta: UInt32 = 1_000
    /// How far a repeated extended timestamp may be ahead of the last message to be believed a new one.
    static let maximumExtendedStep: UInt32 = 10_000

    let id: UInt32
    private(set) var timestamp: UInt32 = 0
    private(set) var timestampDelta: UInt32 = 0
    private(set) var messageLength: UInt32 = 0
    private(set) var messageType: UInt8 = 0
    private(set) var messageStreamID: UInt32 = 0
    /// The extended timestamp field of the last header that had one: format 3 chunks may repeat it, or not.
    private(set) var extendedTimestamp: UInt32?
    /// How much of the message under way has come.
    var receivedByteCount: UInt32 = 0

    init(id: UInt32) { self.id = id }

    var isInsideMessage: Bool { receivedByteCount > 0 }
    var remainingByteCount: UInt32 { messageLength - receivedByteCount }

    /// The message that the last header described.
    func message(of payload: UnsafeRawBufferPointer) -> RTMPMessage {
        RTMPMessage(type: messageType, timestamp: timestamp, streamID: messageStreamID, payload: payload)
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
        var extended: UInt32?
        if field == 0xFF_FFFF {
            guard let value = reader.read(UInt32.self) else { return false }
            extended = value
        }
        (messageLength, messageType, messageStreamID, extendedTimestamp) = (length, type, streamID, extended)
        setTime(extended ?? field, isAbsolute: format == 0)
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
            var ahead = reader
            if let field = ahead.read(UInt32.self) {
                if isRepetition(field, of: extendedTimestamp) {
                    repeated = field
                    reader = ahead
                }
            } else if remainingByteCount >= 4 || ahead.startsLike(extendedTimestamp) {
                return false
            }
        }
        guard !isInsideMessage else { return true }
        if let repeated, repeated != extendedTimestamp {
            timestamp = repeated
        } else {
            timestamp &+= timestampDelta
        }
        return true
    }

    /// The specification has format 3 chunks repeat the field; librtmp left it out for years, and some write the message's
    /// timestamp in its place. Four bytes of payload that equal it by chance are not a risk worth more state.
    private func isRepetition(_ field: UInt32, of extendedTimestamp: UInt32) -> Bool {
        if field == extendedTimestamp { return true }
        return isInsideMessage ? field == timestamp : field &- timestamp <= Self.maximumExtendedStep
    }
}

extension ByteReader {
    /// What is left, fewer than four bytes, begins the field.
    fileprivate func startsLike(_ field: UInt32) -> Bool {
        var ahead = self
        var shift: UInt32 = 24
        while let byte = ahead.read(UInt8.self) {
            guard byte == UInt8(truncatingIfNeeded: field >> shift) else { return false }
            shift -= 8
        }
        return true
    }
}
