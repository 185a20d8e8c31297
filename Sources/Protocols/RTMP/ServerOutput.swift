import AMF0
import Wire

/// What the server says: messages as bytes for the peer, in chunks of the size that it was told last.
struct ServerOutput {
    /// Those of all servers.
    private static let controlChunkStreamID: UInt32 = 2
    private static let commandChunkStreamID: UInt32 = 3
    /// Windows and result of `connect` take 415; only a refusal that names many reasons is longer.
    private static let usualByteCount = 512

    /// What has not been taken yet.
    private(set) var bytes: [UInt8] = []
    private var chunks = ChunkWriter()

    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// S0, S1 and S2, which are no messages, and before which there is nothing.
    mutating func writeHandshake(_ answer: [UInt8]) { bytes = answer }

    // MARK: - Control messages (RTMP 1.0 §5.4, §7.1.7)

    /// One that consists of a number.
    mutating func writeControl(_ type: UInt8, _ value: UInt32) {
        var payload = ByteWriter(reserving: 4)
        payload.write(value)
        write(type, payload.bytes, chunkStreamID: Self.controlChunkStreamID)
    }

    /// What follows is cut by this size.
    mutating func writeChunkSize(_ size: Int) {
        writeControl(RTMPMessageType.setChunkSize, UInt32(size))
        chunks.chunkSize = size
    }

    /// - Parameter size: as much as may be on its way unacknowledged; the limit's type is 2, "dynamic".
    mutating func writePeerBandwidth(_ size: UInt32) {
        var payload = ByteWriter(reserving: 5)
        payload.write(size)
        payload.write(UInt8(2))
        write(RTMPMessageType.setPeerBandwidth, payload.bytes, chunkStreamID: Self.controlChunkStreamID)
    }

    mutating func writeUserControl(_ event: UInt16, _ value: UInt32) {
        var payload = ByteWriter(reserving: 6)
        payload.write(event)
        payload.write(value)
        write(RTMPMessageType.userControl, payload.bytes, chunkStreamID: Self.controlChunkStreamID)
    }

    // MARK: - Commands (RTMP 1.0 §7.2)

    /// Nothing, where no answer is wanted.
    mutating func writeResult(of command: RTMPCommand, _ value: AMF0Value = .undefined) {
        guard command.transactionID != 0 else { return }
        write(RTMPCommand(name: "_result", transactionID: command.transactionID, arguments: [value]))
    }

    /// Nothing, where no answer is wanted.
    mutating func writeCallFailed(_ command: RTMPCommand, _ description: String) {
        guard command.transactionID != 0 else { return }
        let information = AMF0Object(level: .error, code: "NetConnection.Call.Failed", description: description)
        write(RTMPCommand(name: "_error", transactionID: command.transactionID, arguments: [.object(information)]))
    }

    /// To who has not got through `connect`, whose transaction id is always 1 (RTMP 1.0 §7.2.1.1).
    mutating func writeConnectRejected(_ description: String) {
        let information = AMF0Object(level: .error, code: "NetConnection.Connect.Rejected", description: description)
        write(RTMPCommand(name: "_error", transactionID: 1, arguments: [.object(information)]))
    }

    mutating func writeStatus(_ level: StatusLevel, _ code: String, _ description: String, _ streamID: UInt32) {
        let information = AMF0Object(level: level, code: code, description: description)
        write(RTMPCommand(name: "onStatus", arguments: [.object(information)]), streamID: streamID)
    }

    mutating func write(_ command: RTMPCommand, streamID: UInt32 = 0) {
        write(RTMPMessageType.commandAMF0, command.bytes, streamID: streamID, chunkStreamID: Self.commandChunkStreamID)
    }

    private mutating func write(_ type: UInt8, _ payload: [UInt8], streamID: UInt32 = 0, chunkStreamID: UInt32) {
        if bytes.isEmpty { bytes.reserveCapacity(Self.usualByteCount) }
        chunks.write(type: type, streamID: streamID, chunkStreamID: chunkStreamID, payload: payload, into: &bytes)
    }
}

/// Whether an information object tells of what was done, or of what went wrong.
enum StatusLevel: String { case status, error }

extension AMF0Object {
    /// The information object of an answer (RTMP 1.0 §7.2.2).
    init(level: StatusLevel, code: String, description: String) {
        self.init([
            Member(name: "level", value: .string(level.rawValue)), Member(name: "code", value: .string(code)),
            Member(name: "description", value: .string(description)),
        ])
    }
}
