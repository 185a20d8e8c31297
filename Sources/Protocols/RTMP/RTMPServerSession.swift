import AMF0
import Wire

/// One encoder's RTMP connection, seen from the server and without any I/O (RTMP 1.0, Enhanced RTMP v2).
///
/// Bytes go in with `nextEvent`, again and again until it answers nil; what is to be sent gathers in `output`. Events that ask
/// something hold the session until they are answered: bytes that follow wait unread, so that early media is neither lost nor
/// kept here. An error ends the session. Time limits are the owner's.
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

    private enum Publishing: Equatable {
        case idle
        case asked(streamID: UInt32)
        case live(streamID: UInt32)
    }

    /// More than one stream per connection is never used; some encoders create a few in a row.
    private static let maximumStreamCount = 16

    private let crypto: HandshakeCrypto
    private var phase = Phase.handshake
    private var chunks: ChunkReader
    private var writer = ChunkWriter()
    private var window = ReceiveWindow()
    private var unwrapper = TimestampUnwrapper()
    private var aggregate: AggregateCursor?
    private var connect: ConnectRequest?
    private var publishing = Publishing.idle
    private var streamCount = 0

    /// `connect` has been accepted.
    public private(set) var isConnected = false
    /// Bytes for the peer.
    public private(set) var output: [UInt8] = []

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
            let event = unsafe try readOn(in: input, at: &offset)
            if let sequenceNumber = window.received(offset - start) { writeAcknowledgement(sequenceNumber) }
            if let event { return event }
            if awaitsAnswer || offset == start { return nil }
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
        unsafe output += RTMPHandshake.answer(c1: Array(input[offset + 1..<end]), crypto)
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

/// What each message does.
extension RTMPServerSession {
    private mutating func received(_ message: RTMPMessage) throws(RTMPError) -> RTMPEvent? {
        switch message.type {
        case RTMPMessageType.userControl: try receivedUserControl(message)
        case RTMPMessageType.windowAcknowledgementSize: try resizeWindow(message)
        case RTMPMessageType.commandAMF0, RTMPMessageType.commandAMF3:
            guard let command = try RTMPCommand(parsing: message) else { return nil }
            return try received(command, streamID: message.streamID)
        case RTMPMessageType.aggregate where isLive:
            aggregate = AggregateCursor(message)
            return nextOfAggregate()
        default: return mediaEvent(of: message)
        }
        return nil
    }

    private var isLive: Bool { if case .live = publishing { true } else { false } }

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
        guard isLive else { return nil }
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
        if event == UserControlEvent.pingRequest, let stamp = reader.readBytes(count: 4) {
            writeUserControl(UserControlEvent.pingResponse, stamp)
        }
    }

    private mutating func resizeWindow(_ message: RTMPMessage) throws(RTMPError) {
        var reader = unsafe ByteReader(message.payload.bytes)
        guard let size = reader.read(UInt32.self) else { throw .malformedControlMessage(type: message.type) }
        try window.resize(to: size)
    }
}

/// What each command does (RTMP 1.0 §7.2, and what Flash Media Live Encoder has made everybody send beside it).
extension RTMPServerSession {
    private mutating func received(_ command: RTMPCommand, streamID: UInt32) throws(RTMPError) -> RTMPEvent? {
        if command.name == "connect" { return receivedConnect(command) }
        guard isConnected else { throw .commandBeforeConnect }
        switch command.name {
        case "releaseStream", "_checkbw", "setPeerInfo": writeResult(of: command)
        case "getStreamLength": writeResult(of: command, .number(0))
        case "FCPublish": receivedFCPublish(command)
        case "createStream": receivedCreateStream(command)
        case "publish": return receivedPublish(command, streamID: streamID)
        case "FCUnpublish":
            writeResult(of: command)
            return endPublish()
        case "closeStream": return endPublish()
        case "deleteStream": return receivedDeleteStream(command)
        case "_result", "_error", "onStatus", "receiveAudio", "receiveVideo", "pause": break
        case "play", "play2": writeStatus(.error, "NetStream.Play.Failed", "This server takes streams and plays none.", streamID)
        default: writeCallFailed(command, "Unknown command.")
        }
        return nil
    }

    private mutating func receivedConnect(_ command: RTMPCommand) -> RTMPEvent? {
        guard connect == nil else {
            writeCallFailed(command, "Already connected.")
            return nil
        }
        let request = ConnectRequest(command)
        connect = request
        return .connect(request)
    }

    /// FMLE waits for onFCPublish, and some hardware refuses one without a transaction id.
    private mutating func receivedFCPublish(_ command: RTMPCommand) {
        writeResult(of: command)
        let information: AMF0Object = ["code": "NetStream.Publish.Start", "description": "FCPublish"]
        write(RTMPCommand(name: "onFCPublish", arguments: [.object(information)]))
    }

    /// Ids count from 1: GStreamer takes 0 for an error.
    private mutating func receivedCreateStream(_ command: RTMPCommand) {
        guard streamCount < Self.maximumStreamCount else {
            writeCallFailed(command, "Too many streams.")
            return
        }
        streamCount += 1
        writeResult(of: command, .number(Double(streamCount)))
    }

    /// Some encoders publish on stream 0, or on one they never created: they are answered where they asked.
    private mutating func receivedPublish(_ command: RTMPCommand, streamID: UInt32) -> RTMPEvent? {
        guard let connect, publishing == .idle else {
            writeStatus(.error, "NetStream.Publish.BadName", "This connection publishes already.", streamID)
            return nil
        }
        publishing = .asked(streamID: streamID)
        return .publish(PublishTarget(connect: connect, publishName: command.arguments.first?.string ?? ""))
    }

    private mutating func receivedDeleteStream(_ command: RTMPCommand) -> RTMPEvent? {
        guard case .live(let streamID) = publishing else { return nil }
        let deleted = command.arguments.first?.number.flatMap(UInt32.init(exactly:))
        return deleted == nil || deleted == streamID || streamID == 0 ? endPublish() : nil
    }

    private mutating func endPublish() -> RTMPEvent? {
        guard case .live(let streamID) = publishing else { return nil }
        publishing = .idle
        writeStatus(.status, "NetStream.Unpublish.Success", "The stream has ended.", streamID)
        return .unpublished
    }
}

/// What the owner decides, and what a session says of itself.
extension RTMPServerSession {
    /// Ours, in both directions.
    private static let windowSize: UInt32 = 2_500_000
    private static let outgoingChunkSize = 65_536
    private static let controlChunkStreamID: UInt32 = 2
    private static let commandChunkStreamID: UInt32 = 3

    /// Answers `connect` in the order that encoders expect: windows, chunk size, result.
    public mutating func acceptConnect() {
        precondition(connect != nil && !isConnected, "acceptConnect answers a connect event")
        guard let connect else { return }
        isConnected = true
        writeControl(RTMPMessageType.windowAcknowledgementSize, Self.bigEndian(Self.windowSize))
        writeControl(RTMPMessageType.setPeerBandwidth, Self.bigEndian(Self.windowSize) + [2])
        writeControl(RTMPMessageType.setChunkSize, Self.bigEndian(UInt32(Self.outgoingChunkSize)))
        writer.chunkSize = Self.outgoingChunkSize
        let properties: AMF0Object = ["fmsVer": "FMS/3,5,7,7009", "capabilities": 31.0, "mode": 1.0]
        let result = RTMPCommand(
            name: "_result", transactionID: connect.transactionID, object: .object(properties),
            arguments: [.object(connectInformation(connect))])
        write(result)
    }

    private func connectInformation(_ connect: ConnectRequest) -> AMF0Object {
        var information: AMF0Object = [
            "level": "status", "code": "NetConnection.Connect.Success", "description": "Connection succeeded.",
            "objectEncoding": .number(connect.objectEncoding),
        ]
        guard connect.enhancedCapabilities != nil else { return information }
        // Several tracks are offered to who says what it can; others send them unasked, as OBS does.
        let capabilities = connect.tellsCapabilities ? EnhancedCapabilities.ours : .ours.subtracting(.multitrack)
        // CanDecode is 1, CanForward 4.
        let enhanced: AMF0Object = [
            "fourCcList": .strictArray(["avc1", "mp4a", "Opus"]),
            "videoFourCcInfoMap": .object(["avc1": 4.0]),
            "audioFourCcInfoMap": .object(["mp4a": 1.0, "Opus": 4.0]),
            "capsEx": .number(Double(capabilities.rawValue)),
        ]
        information.members += enhanced.members
        return information
    }

    /// The owner closes the connection after this: librtmp would wait for ever.
    public mutating func rejectConnect(description: String) {
        guard let connect else { return }
        let information = Self.status(.error, "NetConnection.Connect.Rejected", description)
        write(RTMPCommand(name: "_error", transactionID: connect.transactionID, arguments: [.object(information)]))
    }

    /// `publish` is granted: media may come, and the larger limits hold.
    public mutating func acceptPublish() {
        guard case .asked(let streamID) = publishing else { return }
        publishing = .live(streamID: streamID)
        chunks.limits = .publishing
        writeUserControl(UserControlEvent.streamBegin, Self.bigEndian(streamID))
        writeStatus(.status, "NetStream.Publish.Start", "Publishing.", streamID)
    }

    /// Turns the encoder away, or ends what it publishes, in words; one that asked for nothing yet is told on the control stream.
    /// The owner closes the connection a moment later.
    /// - Parameter code: one that encoders show to their user: `NetStream.Publish.BadName`, `.Denied` or `.Rejected`.
    public mutating func rejectPublish(code: String, description: String) {
        switch publishing {
        case .idle:
            if isConnected { writeStatus(.error, code, description, 0) }
        case .asked(let streamID), .live(let streamID):
            publishing = .idle
            writeStatus(.error, code, description, streamID)
        }
    }

    /// Asks the encoder to connect anew, here or at `tcURL` (Enhanced RTMP v2, "Reconnect Request").
    /// - Returns: false, with nothing sent, when the encoder did not say that it can.
    public mutating func requestReconnect(tcURL: String? = nil, description: String) -> Bool {
        guard isConnected, connect?.enhancedCapabilities?.contains(.reconnect) == true else { return false }
        var information = Self.status(.status, "NetConnection.Connect.ReconnectRequest", description)
        if let tcURL { information.members.append(.init(name: "tcUrl", value: .string(tcURL))) }
        write(RTMPCommand(name: "onStatus", arguments: [.object(information)]))
        return true
    }

    /// Asks for a sign of life; the answer needs no event, it counts as bytes received.
    public mutating func ping(stamp: UInt32) { writeUserControl(UserControlEvent.pingRequest, Self.bigEndian(stamp)) }
}

/// How things are written.
extension RTMPServerSession {
    private enum StatusLevel: String { case status, error }

    private mutating func writeAcknowledgement(_ sequenceNumber: UInt32) {
        writeControl(RTMPMessageType.acknowledgement, Self.bigEndian(sequenceNumber))
    }

    private mutating func writeUserControl(_ event: UInt16, _ data: [UInt8]) {
        writeControl(RTMPMessageType.userControl, [UInt8(event >> 8), UInt8(truncatingIfNeeded: event)] + data)
    }

    private mutating func writeResult(of command: RTMPCommand, _ value: AMF0Value = .undefined) {
        guard command.transactionID != 0 else { return }
        write(RTMPCommand(name: "_result", transactionID: command.transactionID, arguments: [value]))
    }

    private mutating func writeCallFailed(_ command: RTMPCommand, _ description: String) {
        guard command.transactionID != 0 else { return }
        let information = Self.status(.error, "NetConnection.Call.Failed", description)
        write(RTMPCommand(name: "_error", transactionID: command.transactionID, arguments: [.object(information)]))
    }

    private mutating func writeStatus(_ level: StatusLevel, _ code: String, _ description: String, _ streamID: UInt32) {
        write(RTMPCommand(name: "onStatus", arguments: [.object(Self.status(level, code, description))]), streamID: streamID)
    }

    private mutating func write(_ command: RTMPCommand, streamID: UInt32 = 0) {
        writer.write(
            type: RTMPMessageType.commandAMF0, streamID: streamID, chunkStreamID: Self.commandChunkStreamID,
            payload: command.bytes, into: &output)
    }

    private mutating func writeControl(_ type: UInt8, _ payload: [UInt8]) {
        writer.write(type: type, chunkStreamID: Self.controlChunkStreamID, payload: payload, into: &output)
    }

    private static func status(_ level: StatusLevel, _ code: String, _ description: String) -> AMF0Object {
        ["level": .string(level.rawValue), "code": .string(code), "description": .string(description)]
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: value >> 24), UInt8(truncatingIfNeeded: value >> 16), UInt8(truncatingIfNeeded: value >> 8),
            UInt8(truncatingIfNeeded: value),
        ]
    }
}

/// Counts received bytes, handshake included, and tells when the peer waits for an Acknowledgement (RTMP 1.0 §5.4.3, §5.4.4).
private struct ReceiveWindow {
    private static let defaultSize: UInt32 = 2_500_000
    /// A smaller wish is not followed: it would only make work.
    private static let minimumSize: UInt32 = 4_096

    private var size = defaultSize
    private var receivedByteCount: UInt64 = 0
    private var acknowledgedByteCount: UInt64 = 0

    mutating func resize(to size: UInt32) throws(RTMPError) {
        guard size > 0 else { throw .invalidWindow }
        self.size = max(size, Self.minimumSize)
    }

    /// - Returns: the sequence number to acknowledge, bytes received modulo 2^32, once a window is full.
    mutating func received(_ count: Int) -> UInt32? {
        receivedByteCount += UInt64(count)
        guard receivedByteCount - acknowledgedByteCount >= UInt64(size) else { return nil }
        acknowledgedByteCount = receivedByteCount
        return UInt32(truncatingIfNeeded: receivedByteCount)
    }
}

/// User control event types (RTMP 1.0 §7.1.7).
private enum UserControlEvent {
    static let streamBegin: UInt16 = 0
    static let pingRequest: UInt16 = 6
    static let pingResponse: UInt16 = 7
}
