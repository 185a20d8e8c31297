import AMF0

/// The commands of one connection, from `connect` to the end of its stream: what the encoder asks, and what its owner decides
/// (RTMP 1.0 §7.2, and what Flash Media Live Encoder has made everybody send beside it).
///
/// Commands and decisions come in; answers go into the output, and what the owner has to decide or to know comes back.
struct CommandDialogue {
    /// A message stream as `publish` named it.
    private struct Stream: Equatable {
        let id: UInt32
        let name: String
    }

    private enum Publishing: Equatable {
        case idle
        case asked(Stream)
        case live(Stream)
    }

    /// One bit each: some encoders create a few in a row, and use one.
    private static let maximumStreamCount = UInt16.bitWidth
    private static let outgoingChunkSize = 65_536
    /// Of the server, in the result of `connect`.
    private static let properties: AMF0Object = ["fmsVer": "FMS/3,5,7,7009", "capabilities": 31.0, "mode": 1.0]
    private static let onFCPublish = RTMPCommand(
        name: "onFCPublish", arguments: [.object(["code": "NetStream.Publish.Start", "description": "FCPublish"])])

    private var connect: ConnectRequest?
    /// `connect` has been accepted.
    private(set) var isConnected = false
    private var publishing = Publishing.idle
    /// Refused because another one was live: their media and their ends are not that one's.
    private var refused: [Stream] = []
    /// Created and not deleted: bit n is stream n + 1.
    private var streams: UInt16 = 0

    /// An event waits for its answer.
    var awaitsAnswer: Bool {
        if case .asked = publishing { return true }
        return !isConnected && connect != nil
    }

    /// `publish` has been accepted: media may come.
    var isLive: Bool { if case .live = publishing { true } else { false } }

    /// Media counts on whatever stream it comes, as some encoders do not send it where they publish, but not on a refused one.
    func takesMedia(ofStream id: UInt32) -> Bool { isLive && !isRefused(id) }

    private func isRefused(_ id: UInt32) -> Bool { refused.contains { $0.id == id } }

    // MARK: - What the encoder says

    mutating func received(
        _ command: RTMPCommand, streamID: UInt32, into output: inout ServerOutput
    ) throws(RTMPError) -> RTMPEvent? {
        if command.name == "connect" { return receivedConnect(command, into: &output) }
        guard isConnected else { throw .commandBeforeConnect }
        switch command.name {
        case "FCPublish": receivedFCPublish(command, into: &output)
        case "createStream": receivedCreateStream(command, into: &output)
        case "publish": return receivedPublish(command, streamID: streamID, into: &output)
        case "FCUnpublish":
            output.writeResult(of: command)
            return refused.contains { $0.name == command.publishName } ? nil : endPublish(into: &output)
        case "deleteStream": return receivedDeleteStream(command, into: &output)
        case "closeStream": return isRefused(streamID) ? nil : endPublish(into: &output)
        case "releaseStream", "_checkbw", "setPeerInfo": output.writeResult(of: command)
        case "getStreamLength": output.writeResult(of: command, .number(0))
        case "_result", "_error", "onStatus", "receiveAudio", "receiveVideo", "pause": break
        case "play", "play2":
            output.writeStatus(.error, "NetStream.Play.Failed", "This server takes streams and plays none.", streamID)
        default: output.writeCallFailed(command, "Unknown command.")
        }
        return nil
    }

    private mutating func receivedConnect(_ command: RTMPCommand, into output: inout ServerOutput) -> RTMPEvent? {
        guard connect == nil else {
            output.writeCallFailed(command, "Already connected.")
            return nil
        }
        let request = ConnectRequest(command)
        connect = request
        return .connect(request)
    }

    /// FMLE waits for onFCPublish, and some hardware refuses one without a transaction id.
    private func receivedFCPublish(_ command: RTMPCommand, into output: inout ServerOutput) {
        output.writeResult(of: command)
        output.write(Self.onFCPublish)
    }

    /// Ids count from 1: GStreamer takes 0 for an error. One that was deleted is given anew, to encoders that publish all day
    /// long on one connection.
    private mutating func receivedCreateStream(_ command: RTMPCommand, into output: inout ServerOutput) {
        let free = (~streams).trailingZeroBitCount
        guard free < Self.maximumStreamCount else {
            output.writeCallFailed(command, "Too many streams.")
            return
        }
        streams |= 1 << free
        output.writeResult(of: command, .number(Double(free + 1)))
    }

    /// Some encoders publish on stream 0, or on one they never created: they are answered where they asked.
    private mutating func receivedPublish(
        _ command: RTMPCommand, streamID: UInt32, into output: inout ServerOutput
    ) -> RTMPEvent? {
        let stream = Stream(id: streamID, name: command.publishName)
        guard let connect, publishing == .idle else {
            // Who asks once more for what is live means that, on whatever stream.
            if case .live(let live) = publishing, live.id != streamID, live.name != stream.name { refuse(stream) }
            output.writeStatus(.error, "NetStream.Publish.BadName", "This connection publishes already.", streamID)
            return nil
        }
        publishing = .asked(stream)
        return .publish(PublishTarget(connect.target, publishName: stream.name))
    }

    private mutating func refuse(_ stream: Stream) {
        refused.removeAll { $0.id == stream.id }
        if refused.count < Self.maximumStreamCount { refused.append(stream) }
    }

    private mutating func receivedDeleteStream(_ command: RTMPCommand, into output: inout ServerOutput) -> RTMPEvent? {
        let deleted = command.arguments.first?.number.flatMap(UInt32.init(exactly:))
        if let deleted, (1...UInt32(Self.maximumStreamCount)).contains(deleted) { streams &= ~(1 << (deleted - 1)) }
        if let deleted, isRefused(deleted) {
            refused.removeAll { $0.id == deleted }
            return nil
        }
        guard case .live(let live) = publishing else { return nil }
        return deleted == nil || deleted == live.id || live.id == 0 ? endPublish(into: &output) : nil
    }

    private mutating func endPublish(into output: inout ServerOutput) -> RTMPEvent? {
        guard case .live(let stream) = publishing else { return nil }
        (publishing, refused) = (.idle, [])
        output.writeStatus(.status, "NetStream.Unpublish.Success", "The stream has ended.", stream.id)
        return .unpublished
    }

    // MARK: - What the owner decides

    /// Answers `connect` in the order that encoders expect: windows, chunk size, result.
    mutating func acceptConnect(into output: inout ServerOutput) {
        precondition(connect != nil && !isConnected, "acceptConnect answers a connect event")
        guard let connect else { return }
        isConnected = true
        output.writeControl(RTMPMessageType.windowAcknowledgementSize, ReceiveWindow.maximumSize)
        output.writePeerBandwidth(ReceiveWindow.maximumSize)
        output.writeChunkSize(Self.outgoingChunkSize)
        let result = RTMPCommand(
            name: "_result", transactionID: connect.transactionID, object: .object(Self.properties),
            arguments: [.object(Self.information(for: connect))])
        output.write(result)
    }

    private static func information(for connect: ConnectRequest) -> AMF0Object {
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

    mutating func acceptPublish(into output: inout ServerOutput) {
        guard case .asked(let stream) = publishing else { return }
        publishing = .live(stream)
        output.writeUserControl(UserControlEvent.streamBegin, stream.id)
        output.writeStatus(.status, "NetStream.Publish.Start", "Publishing.", stream.id)
    }

    mutating func rejectPublish(code: String, description: String, into output: inout ServerOutput) {
        switch publishing {
        case .idle where isConnected: output.writeStatus(.error, code, description, 0)
        case .idle: output.writeConnectRejected(description)
        case .asked(let stream), .live(let stream):
            publishing = .idle
            output.writeStatus(.error, code, description, stream.id)
        }
    }

    /// - Returns: false, with nothing said, when the encoder did not say that it can.
    func requestReconnect(description: String, into output: inout ServerOutput) -> Bool {
        guard isConnected, connect?.enhancedCapabilities?.contains(.reconnect) == true else { return false }
        let information = AMF0Object(
            level: .status, code: "NetConnection.Connect.ReconnectRequest", description: description)
        output.write(RTMPCommand(name: "onStatus", arguments: [.object(information)]))
        return true
    }
}

extension RTMPCommand {
    /// The first argument of `publish` and FCUnpublish; empty where that is no string.
    fileprivate var publishName: String { arguments.first?.string ?? "" }
}
