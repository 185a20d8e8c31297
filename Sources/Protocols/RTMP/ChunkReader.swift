import Wire

/// Puts messages together from the chunks of all chunk streams (RTMP 1.0 §5.3), and applies Set Chunk Size and Abort itself.
///
/// A message that lies whole in one chunk of the input is shown where it lies; others are put together in pooled buffers.
///
///     var reader = ChunkReader()
///     while let message = try reader.next(in: input, at: &offset) { handle(message) }
///     // What lies behind `offset` is given again, with more behind it.
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

    /// Control, commands, and one for each track.
    private static let usualStreamCount = 4
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
                guard unsafe try readHeader(in: input, at: &offset) else { return nil }
                continue
            }
            let count = min(openByteCount, input.count - offset)
            let chunk = unsafe UnsafeRawBufferPointer(rebasing: input[offset..<offset + count])
            offset += count
            openByteCount -= count
            let message = unsafe try take(chunk, of: index)
            guard openByteCount == 0 else { return nil }
            openStream = nil
            if let message, try !applied(message) { return message }
        }
    }

    /// - Returns: false when more bytes are needed.
    private mutating func readHeader(
        in input: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(RTMPError) -> Bool {
        var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: input[offset...]).bytes)
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
        if streams.isEmpty {
            streams.reserveCapacity(Self.usualStreamCount)
            buffers.reserveCapacity(Self.usualStreamCount)
        }
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
            if chunk.count == length { return unsafe stream.message(of: chunk) }
            guard unsafe !chunk.isEmpty else { return nil }
            partialByteCount += length
            guard partialByteCount <= limits.partialByteCount else { throw .tooManyPartialBytes }
            buffers[index] = sharesBuffers ? pool.take() : MessageBuffer()
        }
        unsafe buffers[index]?.append(chunk, of: length)
        streams[index].receivedByteCount += UInt32(chunk.count)
        guard streams[index].remainingByteCount == 0 else { return nil }
        lent = dropPartialMessage(of: index)
        return unsafe stream.message(of: lent?.bytes ?? chunk)
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
        var reader = unsafe ByteReader(message.payload.bytes)
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

/// What a peer may make us keep (docs/design.md 7.5): little before it is known, more once it publishes.
public struct ChunkLimits: Sendable {
    /// Bytes of an audio, video or aggregate message.
    public var messageLength: UInt32
    /// The declared lengths of all messages under way.
    public var partialByteCount: Int
    /// Chunk streams that may be in use.
    public var chunkStreamCount: Int
    /// Media and data messages are taken.
    public var admitsMedia: Bool

    /// `connect` of the richest encoder seen takes 700 bytes.
    public static let beforePublish = ChunkLimits(
        messageLength: 64 << 10, partialByteCount: 64 << 10, chunkStreamCount: 16, admitsMedia: false)
    /// A keyframe of 8.5 Mbit/s video stays far below 4 MiB.
    public static let publishing = ChunkLimits(
        messageLength: 4 << 20, partialByteCount: 4 << 20, chunkStreamCount: 64, admitsMedia: true)

    /// Commands and control messages are never longer, before `publish` or after.
    static let maximumCommandLength: UInt32 = 64 << 10

    func admits(length: UInt32, ofType type: UInt8) -> Bool {
        switch type {
        case RTMPMessageType.audio, RTMPMessageType.video, RTMPMessageType.aggregate: length <= messageLength
        default: length <= min(messageLength, Self.maximumCommandLength)
        }
    }

    func admits(type: UInt8) -> Bool {
        if admitsMedia { return true }
        return type <= RTMPMessageType.setPeerBandwidth || type == RTMPMessageType.commandAMF0
            || type == RTMPMessageType.commandAMF3
    }
}
