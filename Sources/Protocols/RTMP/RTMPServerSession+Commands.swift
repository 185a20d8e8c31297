import AMF0

/// What each command does (RTMP 1.0 §7.2, and what Flash Media Live Encoder has made everybody send beside it).
extension RTMPServerSession {
    mutating func received(_ command: RTMPCommand, streamID: UInt32) throws(RTMPError) -> RTMPEvent? {
        if command.name == "connect" { return receivedConnect(command) }
        guard isConnected else { throw .commandBeforeConnect }
        switch command.name {
        case "releaseStream", "_checkbw", "setPeerInfo": writeResult(of: command, .null, .undefined)
        case "getStreamLength": writeResult(of: command, .null, .number(0))
        case "FCPublish": receivedFCPublish(command)
        case "createStream": receivedCreateStream(command)
        case "publish": return receivedPublish(command, streamID: streamID)
        case "FCUnpublish":
            writeResult(of: command, .null, .undefined)
            return endPublish()
        case "closeStream": return endPublish()
        case "deleteStream": return receivedDeleteStream(command)
        case "_result", "_error", "onStatus", "receiveAudio", "receiveVideo", "pause": break
        case "play", "play2": writeStatus(.error, "NetStream.Play.Failed", "This server takes streams and plays none.", streamID)
        default: writeError(of: command, code: "NetConnection.Call.Failed", "Unknown command.")
        }
        return nil
    }

    private mutating func receivedConnect(_ command: RTMPCommand) -> RTMPEvent? {
        guard connect == nil else {
            writeError(of: command, code: "NetConnection.Call.Failed", "Already connected.")
            return nil
        }
        let request = ConnectRequest(command)
        connect = request
        return .connect(request)
    }

    /// FMLE waits for onFCPublish, and some hardware refuses one without a transaction id.
    private mutating func receivedFCPublish(_ command: RTMPCommand) {
        writeResult(of: command, .null, .undefined)
        let information: AMF0Object = ["code": "NetStream.Publish.Start", "description": "FCPublish"]
        write(RTMPCommand(name: "onFCPublish", arguments: [.object(information)]))
    }

    /// Ids count from 1: GStreamer takes 0 for an error.
    private mutating func receivedCreateStream(_ command: RTMPCommand) {
        guard streamCount < Self.maximumStreamCount else {
            writeError(of: command, code: "NetConnection.Call.Failed", "Too many streams.")
            return
        }
        streamCount += 1
        writeResult(of: command, .null, .number(Double(streamCount)))
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
