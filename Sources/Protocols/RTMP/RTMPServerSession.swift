import Wire

/// One encoder's RTMP connection, seen from the server and without any I/O (RTMP 1.0, Enhanced RTMP v2).
///
/// Bytes go in with `nextEvent`, again and again until it answers nil; what is to be sent gathers for `takeOutput`. Events
/// that ask something hold the session until they are answered: bytes that follow wait unread, so that early media is neither
/// lost nor kept here. An error ends the session. Time limits are the owner's.
///
///     while let event = try session.nextEvent(in: input, at: &offset) {
///         switch event {
///         case .connect: session.acceptConnect()
///         case .publish(let target): decide(on: target)  // later: acceptPublish() or rejectPublish(code:description:)
///         case .audio(let media), .video(let media), .data(let media): forward(media)
///         case .unpublished: end()
///         }
///     }
///     send(session.takeOutput())
public struct RTMPServerSession: ~Copyable {
    private enum Phase: Equatable {
        case handshake
        /// C2, of which so many bytes are still to come.
        case passingC2(Int)
        case messages
    }

    /// Whether the peer takes what it is sent. One that only writes, as apps with librtmp may, is not pinged, and hears of what
    /// has come once it reads: each acknowledgement tells of all before it.
    public var isHeard = true

    private let crypto: HandshakeCrypto
    private var phase = Phase.handshake
    private var chunks: ChunkReader
    private var window = ReceiveWindow()
    private var dialogue = CommandDialogue()
    private var unwrapper = TimestampUnwrapper()
    private var aggregate: AggregateCursor?
    private var output = ServerOutput()

    /// - Parameter pool: of the thread, where messages are put together once a publish is accepted.
    public init(crypto: HandshakeCrypto, pool: MessageBufferPool = MessageBufferPool()) {
        self.crypto = crypto
        chunks = ChunkReader(pool: pool)
    }

    /// Reads on in `input` from `offset`, up to the next event.
    ///
    /// - Parameter offset: moved behind what was consumed. What is left is to be given again, with more behind it.
    /// - Returns: nil when more bytes or an answer are needed.
    /// - Throws: what makes going on impossible.
    public mutating func nextEvent(
        in input: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(RTMPError) -> RTMPEvent? {
        guard !dialogue.awaitsAnswer else { return nil }
        if aggregate != nil, let event = nextOfAggregate() { return event }
        while true {
            let start = offset
            let event = unsafe try readOn(in: input, at: &offset)
            if window.received(offset - start), isHeard { acknowledge() }
            if let event { return event }
            if dialogue.awaitsAnswer || offset == start { return nil }
        }
    }

    private mutating func readOn(in input: UnsafeRawBufferPointer, at offset: inout Int) throws(RTMPError) -> RTMPEvent? {
        switch phase {
        case .handshake:
            unsafe try readC0C1(in: input, at: &offset)
            return nil
        case .passingC2(let count):
            let passed = min(count, input.count - offset)
            offset += passed
            phase = passed == count ? .messages : .passingC2(count - passed)
            return nil
        case .messages:
            guard let message = unsafe try chunks.next(in: input, at: &offset) else { return nil }
            return try received(message)
        }
    }

    private mutating func readC0C1(in input: UnsafeRawBufferPointer, at offset: inout Int) throws(RTMPError) {
        guard offset < input.count else { return }
        unsafe try RTMPHandshake.check(version: input[offset])
        let end = offset + 1 + RTMPHandshake.packetByteCount
        guard input.count >= end else { return }
        let c1 = unsafe Array(UnsafeRawBufferPointer(rebasing: input[offset + 1..<end]))
        output.writeHandshake(RTMPHandshake.answer(c1: c1, crypto))
        offset = end
        phase = .passingC2(RTMPHandshake.packetByteCount)
    }
}

extension RTMPServerSession {
    /// C0, C1 and C2 have come; what follows are messages.
    public var isHandshakeComplete: Bool { phase == .messages }

    /// `connect` has been accepted.
    public var isConnected: Bool { dialogue.isConnected }

    /// What unfinished messages of this peer may make us keep, in bytes.
    public var partialByteCount: Int { chunks.partialByteCount }
}

/// What each message does.
extension RTMPServerSession {
    private mutating func received(_ message: RTMPMessage) throws(RTMPError) -> RTMPEvent? {
        switch message.type {
        case RTMPMessageType.userControl: try receivedUserControl(message)
        case RTMPMessageType.windowAcknowledgementSize: try resizeWindow(message)
        case RTMPMessageType.commandAMF0, RTMPMessageType.commandAMF3:
            guard let command = try RTMPCommand(parsing: message) else { return nil }
            return try dialogue.received(command, streamID: message.streamID, into: &output)
        case RTMPMessageType.aggregate where dialogue.isLive:
            aggregate = AggregateCursor(message)
            return nextOfAggregate()
        default: return mediaEvent(of: message)
        }
        return nil
    }

    private mutating func nextOfAggregate() -> RTMPEvent? {
        while let message = aggregate?.next() {
            if let event = mediaEvent(of: message) { return event }
        }
        aggregate = nil
        return nil
    }

    /// Media counts only while published: some encoders send on for a moment after FCUnpublish. Shared objects,
    /// acknowledgements and peer bandwidth mean nothing to us.
    private mutating func mediaEvent(of message: RTMPMessage) -> RTMPEvent? {
        guard dialogue.takesMedia(ofStream: message.streamID) else { return nil }
        switch message.type {
        case RTMPMessageType.audio: return .audio(media(of: message))
        case RTMPMessageType.video: return .video(media(of: message))
        case RTMPMessageType.dataAMF0: return .data(media(of: message))
        case RTMPMessageType.dataAMF3: return unsafe .data(media(of: message, skipping: message.payload.first == 0 ? 1 : 0))
        default: return nil
        }
    }

    private mutating func media(of message: RTMPMessage, skipping count: Int = 0) -> RTMPMedia {
        unsafe RTMPMedia(
            timestamp: unwrapper.unwrap(message.timestamp),
            payload: UnsafeRawBufferPointer(rebasing: message.payload.dropFirst(count)))
    }

    /// Only a ping asks for something (RTMP 1.0 §7.1.7); buffer lengths and stream marks are a player's.
    private mutating func receivedUserControl(_ message: RTMPMessage) throws(RTMPError) {
        var reader = unsafe ByteReader(message.payload.bytes)
        guard let event = reader.read(UInt16.self) else { throw .malformedControlMessage(type: message.type) }
        if event == UserControlEvent.pingRequest, let stamp = reader.read(UInt32.self) {
            output.writeUserControl(UserControlEvent.pingResponse, stamp)
        }
    }

    private mutating func resizeWindow(_ message: RTMPMessage) throws(RTMPError) {
        var reader = unsafe ByteReader(message.payload.bytes)
        guard let size = reader.read(UInt32.self) else { throw .malformedControlMessage(type: message.type) }
        try window.resize(to: size)
    }
}

/// What the owner decides, and what a session says of itself.
extension RTMPServerSession {
    /// `connect` is granted, always: librtmp shows nobody why one is refused, and waits for ever. A publish is refused in words.
    public mutating func acceptConnect() { dialogue.acceptConnect(into: &output) }

    /// `publish` is granted: media may come, and the larger limits hold.
    public mutating func acceptPublish() {
        dialogue.acceptPublish(into: &output)
        if dialogue.isLive { chunks.limits = .publishing }
    }

    /// Turns the encoder away, or ends what it publishes, in words; one that asked for nothing yet is told on the control stream,
    /// and before `connect` by its `_error`. The owner closes the connection a moment later.
    /// - Parameter code: one that encoders show to their user: `NetStream.Publish.BadName`, `.Denied` or `.Rejected`.
    public mutating func rejectPublish(code: String, description: String) {
        guard isHandshakeComplete else { return }  // nobody reads messages yet
        dialogue.rejectPublish(code: code, description: description, into: &output)
    }

    /// Asks the encoder to connect here anew (Enhanced RTMP v2, "Reconnect Request").
    /// - Returns: false, with nothing sent, when the encoder did not say that it can.
    public mutating func requestReconnect(description: String) -> Bool {
        dialogue.requestReconnect(description: description, into: &output)
    }

    /// Asks for a sign of life; the answer needs no event, it counts as bytes received. Says what has come, too: a still picture
    /// takes minutes to fill a window, and some encoders give a silent server up before.
    public mutating func ping(stamp: UInt32) {
        guard isHeard else { return }
        acknowledge()
        output.writeUserControl(UserControlEvent.pingRequest, stamp)
    }

    private mutating func acknowledge() { output.writeControl(RTMPMessageType.acknowledgement, window.acknowledge()) }

    /// Something waits for the peer.
    public var hasOutput: Bool { !output.bytes.isEmpty }

    /// The bytes that have gathered for the peer.
    public mutating func takeOutput() -> [UInt8] { output.take() }
}
