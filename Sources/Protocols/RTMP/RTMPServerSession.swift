import Wire

/// One encoder's RTMP connection, seen from the server and without any I/O (RTMP 1.0, Enhanced RTMP v2).
///
/// Bytes go in with `nextEvent`, again and again until it answers nil; what is to be sent gathers in `output`. Events that ask
/// something hold the session until they are answered: bytes that follow wait unread, so that early media is neither lost nor
/// kept here. An error ends the session. Time limits are the owner's.
public struct RTMPServerSession: ~Copyable {
    enum Phase: Equatable {
        case handshake
        /// C2, of which so many bytes are still to come.
        case passingC2(Int)
        case messages
    }

    enum Publishing: Equatable {
        case idle
        case asked(streamID: UInt32)
        case live(streamID: UInt32)
    }

    /// More than one stream per connection is never used; some encoders create a few in a row.
    static let maximumStreamCount = 16

    let crypto: HandshakeCrypto
    var phase = Phase.handshake
    var chunks: ChunkReader
    var writer = ChunkWriter()
    var window = ReceiveWindow()
    var unwrapper = TimestampUnwrapper()
    var aggregate: AggregateCursor?
    var connect: ConnectRequest?
    public internal(set) var isConnected = false
    var publishing = Publishing.idle
    var streamCount = 0

    /// Bytes for the peer.
    public internal(set) var output: [UInt8] = []

    /// - Parameter pool: of the thread, where messages are put together once a publish is accepted.
    public init(crypto: HandshakeCrypto, pool: MessageBufferPool = MessageBufferPool()) {
        self.crypto = crypto
        chunks = ChunkReader(pool: pool)
    }

    /// An event waits for its answer.
    public var awaitsAnswer: Bool {
        if case .asked = publishing { return true }
        return !isConnected && connect != nil
    }

    /// The bytes that have gathered for the peer.
    public mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Reads on in `input` from `offset`, up to the next event.
    ///
    /// - Parameter offset: moved behind what was consumed. What is left is to be given again, with more behind it.
    /// - Returns: nil when more bytes or an answer are needed.
    /// - Throws: what makes going on impossible.
    public mutating func nextEvent(
        in input: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(RTMPError) -> RTMPEvent? {
        guard !awaitsAnswer else { return nil }
        if aggregate != nil, let event = nextOfAggregate() { return event }
        while true {
            let start = offset
            let event = try readOn(in: input, at: &offset)
            if let sequenceNumber = window.received(offset - start) { writeAcknowledgement(sequenceNumber) }
            if let event { return event }
            if awaitsAnswer || offset == start { return nil }
        }
    }

    private mutating func readOn(in input: UnsafeRawBufferPointer, at offset: inout Int) throws(RTMPError) -> RTMPEvent? {
        switch phase {
        case .handshake:
            try readC0C1(in: input, at: &offset)
            return nil
        case .passingC2(let count):
            let passed = min(count, input.count - offset)
            offset += passed
            phase = passed == count ? .messages : .passingC2(count - passed)
            return nil
        case .messages:
            guard let message = try chunks.next(in: input, at: &offset) else { return nil }
            return try received(message)
        }
    }

    private mutating func readC0C1(in input: UnsafeRawBufferPointer, at offset: inout Int) throws(RTMPError) {
        guard offset < input.count else { return }
        try RTMPHandshake.check(version: input[offset])
        let end = offset + 1 + RTMPHandshake.packetByteCount
        guard input.count >= end else { return }
        output += RTMPHandshake.answer(c1: Array(input[offset + 1..<end]), crypto)
        offset = end
        phase = .passingC2(RTMPHandshake.packetByteCount)
    }
}

extension RTMPServerSession {
    /// C0, C1 and C2 have come; what follows are messages.
    public var isHandshakeComplete: Bool { phase == .messages }

    /// What unfinished messages of this peer may make us keep, in bytes.
    public var partialByteCount: Int { chunks.partialByteCount }
}
