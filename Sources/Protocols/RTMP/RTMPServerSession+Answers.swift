import AMF0

/// What the owner decides, and what a session says of itself.
extension RTMPServerSession {
    /// Ours, in both directions.
    static let windowSize: UInt32 = 2_500_000
    static let outgoingChunkSize = 65_536
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
        // CanDecode is 1, CanForward 4.
        let enhanced: AMF0Object = [
            "fourCcList": .strictArray(["avc1", "mp4a", "Opus"]),
            "videoFourCcInfoMap": .object(["avc1": 4.0]),
            "audioFourCcInfoMap": .object(["mp4a": 1.0, "Opus": 4.0]),
            "capsEx": .number(Double(EnhancedCapabilities.ours.rawValue)),
        ]
        information.members += enhanced.members
        return information
    }

    /// The owner closes the connection after this: librtmp would wait for ever.
    public mutating func rejectConnect(description: String) {
        guard let connect else { return }
        let information = Self.status(.error, "NetConnection.Connect.Rejected", description)
        write(
            RTMPCommand(
                name: "_error", transactionID: connect.transactionID, arguments: [.object(information)]))
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

/// User control event types (RTMP 1.0 §7.1.7).
enum UserControlEvent {
    static let streamBegin: UInt16 = 0
    static let pingRequest: UInt16 = 6
    static let pingResponse: UInt16 = 7
}

/// How things are written.
extension RTMPServerSession {
    enum StatusLevel: String { case status, error }

    mutating func writeAcknowledgement(_ sequenceNumber: UInt32) {
        writeControl(RTMPMessageType.acknowledgement, Self.bigEndian(sequenceNumber))
    }

    mutating func writeUserControl(_ event: UInt16, _ data: [UInt8]) {
        writeControl(RTMPMessageType.userControl, [UInt8(event >> 8), UInt8(truncatingIfNeeded: event)] + data)
    }

    mutating func writeResult(of command: RTMPCommand, _ object: AMF0Value, _ value: AMF0Value) {
        guard command.transactionID != 0 else { return }
        write(RTMPCommand(name: "_result", transactionID: command.transactionID, object: object, arguments: [value]))
    }

    mutating func writeError(of command: RTMPCommand, code: String, _ description: String) {
        guard command.transactionID != 0 else { return }
        write(
            RTMPCommand(
                name: "_error", transactionID: command.transactionID,
                arguments: [.object(Self.status(.error, code, description))]))
    }

    mutating func writeStatus(_ level: StatusLevel, _ code: String, _ description: String, _ streamID: UInt32) {
        write(RTMPCommand(name: "onStatus", arguments: [.object(Self.status(level, code, description))]), streamID: streamID)
    }

    mutating func write(_ command: RTMPCommand, streamID: UInt32 = 0) {
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
