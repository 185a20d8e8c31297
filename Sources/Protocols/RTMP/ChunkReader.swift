import Wire

/// Puts messages together from the chunks of all chunk streams (RTMP 1.0 §5.3), and applies Set Chunk Size and Abort itself.
///
/// A message that lies whole in one chunk of the input is shown where it lies; others are put together in pooled buffers.
public struct ChunkReader: ~Copyable {
    /// Raised when publishing begins.
    public var limits: ChunkLimits

    private var chunkSize: UInt32 = 128
    private var streams: [ChunkStream] = []
    /// Where the message of each stream is put together; nil between messages.
    private var buffers: [MessageBuffer?] = []
    /// The chunk whose payload is being read: index of its stream, and bytes of it still to come.
    private var openStream: Int?
    private var openByteCount = 0
    /// The declared lengths of the messages under way.
    public private(set) var partialByteCount = 0
    private let pool: MessageBufferPool
    /// Holds the payload of the message given out last.
    private var lent: MessageBuffer?

    /// No chunk is longer: no message can be.
    private static let maximumChunkSize: UInt32 = 0xFF_FFFF

    /// - Parameter pool: for the messages of those who publish.
    public init(limits: ChunkLimits = .beforePublish, pool: MessageBufferPool = MessageBufferPool()) {
        (self.limits, self.pool) = (limits, pool)
    }

    /// The next complete message in `input`, from `offset` on.
    ///
    /// - Parameter offset: moved behind what was consumed; a piece of a header (at most 18 bytes) is left for the next call.
    /// - Returns: nil when more bytes are needed.
    /// - Throws: what breaks the chunk stream or a limit; the connection cannot go on then.
    public mutating func next(in input: UnsafeRawBufferPointer, at offset: inout Int) throws(RTMPError) -> RTMPMessage? {
        if let buffer = lent {
            lent = nil
            giveBack(buffer)
        }
        while true {
            guard let index = openStream else {
                guard try readHeader(in: input, at: &offset) else { return nil }
                continue
            }
            let count = min(openByteCount, input.count - offset)
            let chunk = UnsafeRawBufferPointer(rebasing: input[offset..<offset + count])
            offset += count
            openByteCount -= count
            let message = try take(chunk, of: index)
            guard openByteCount == 0 else { return nil }
            openStream = nil
            if let message, try !applied(message) { return message }
        }
    }

    /// - Returns: false when more bytes are needed.
    private mutating func readHeader(
        in input: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(RTMPError) -> Bool {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: input[offset...]).bytes)
        guard let basicHeader = ChunkBasicHeader.read(from: &reader) else { return false }
        guard let index = try stream(for: basicHeader) else {
            offset += reader.offset
            return true
        }
        guard try streams[index].readHeader(format: basicHeader.format, from: &reader) else { return false }
        offset += reader.offset
        let stream = streams[index]
        if !stream.isInsideMessage { try checkBeginning(ofType: stream.messageType, length: stream.messageLength) }
        openStream = index
        openByteCount = Int(min(stream.remainingByteCount, chunkSize))
        return true
    }

    /// The stream's index; a new stream is added. Nil for a format 3 chunk on a new stream: FMLE sends one that says nothing.
    private mutating func stream(for header: ChunkBasicHeader) throws(RTMPError) -> Int? {
        for index in streams.indices where streams[index].id == header.chunkStreamID { return index }
        if header.format == 3 { return nil }
        guard header.format < 2 else { throw .firstChunkWithoutHeader }
        guard streams.count < limits.chunkStreamCount else { throw .tooManyChunkStreams }
        streams.append(ChunkStream(id: header.chunkStreamID))
        buffers.append(nil)
        return streams.count - 1
    }

    private func checkBeginning(ofType type: UInt8, length: UInt32) throws(RTMPError) {
        guard limits.admits(type: type) else { throw .messageBeforePublish(type: type) }
        guard limits.admits(length: length, ofType: type) else { throw .messageTooLong(length) }
    }

    /// Adds bytes to the stream's message; answers it when it is complete.
    private mutating func take(_ chunk: UnsafeRawBufferPointer, of index: Int) throws(RTMPError) -> RTMPMessage? {
        let stream = streams[index]
        let length = Int(stream.messageLength)
        if !stream.isInsideMessage {
            if chunk.count == length { return stream.message(of: chunk) }
            guard !chunk.isEmpty else { return nil }
            partialByteCount += length
            guard partialByteCount <= limits.partialByteCount else { throw .tooManyPartialBytes }
            buffers[index] = sharesBuffers ? pool.take() : MessageBuffer()
        }
        buffers[index]?.append(chunk, of: length)
        streams[index].receivedByteCount += UInt32(chunk.count)
        guard streams[index].remainingByteCount == 0 else { return nil }
        lent = dropPartialMessage(of: index)
        return stream.message(of: lent?.bytes ?? chunk)
    }

    /// Strangers get buffers of their own, as long as what they sent: they could sit on those that grew for others' keyframes.
    private var sharesBuffers: Bool { limits.admitsMedia }

    private func giveBack(_ buffer: MessageBuffer) {
        if sharesBuffers { pool.giveBack(buffer) }
    }

    private mutating func dropPartialMessage(of index: Int) -> MessageBuffer? {
        partialByteCount -= Int(streams[index].messageLength)
        streams[index].receivedByteCount = 0
        defer { buffers[index] = nil }
        return buffers[index]
    }

    /// Applies the two messages that speak to this layer (§5.4.1, §5.4.2); false for all others.
    private mutating func applied(_ message: RTMPMessage) throws(RTMPError) -> Bool {
        guard message.type == RTMPMessageType.setChunkSize || message.type == RTMPMessageType.abort else { return false }
        var reader = ByteReader(message.payload.bytes)
        guard let value = reader.read(UInt32.self) else { throw .malformedControlMessage(type: message.type) }
        if message.type == RTMPMessageType.setChunkSize {
            guard value >= 1, value >> 31 == 0 else { throw .invalidChunkSize(value) }
            chunkSize = min(value, Self.maximumChunkSize)
        } else if let index = streams.firstIndex(where: { $0.id == value && $0.isInsideMessage }) {
            if let buffer = dropPartialMessage(of: index) { giveBack(buffer) }
        }
        return true
    }
}
