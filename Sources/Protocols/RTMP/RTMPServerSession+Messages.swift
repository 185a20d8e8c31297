import Wire

/// What each message does.
extension RTMPServerSession {
    mutating func received(_ message: RTMPMessage) throws(RTMPError) -> RTMPEvent? {
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

    var isLive: Bool { if case .live = publishing { true } else { false } }

    mutating func nextOfAggregate() -> RTMPEvent? {
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
        case RTMPMessageType.dataAMF3: return .data(media(of: message, skipping: message.payload.first == 0 ? 1 : 0))
        default: return nil
        }
    }

    private mutating func media(of message: RTMPMessage, skipping count: Int = 0) -> RTMPMedia {
        RTMPMedia(
            timestamp: unwrapper.unwrap(message.timestamp),
            payload: UnsafeRawBufferPointer(rebasing: message.payload.dropFirst(count)))
    }

    /// Only a ping asks for something (RTMP 1.0 §7.1.7); buffer lengths and stream marks are a player's.
    private mutating func receivedUserControl(_ message: RTMPMessage) throws(RTMPError) {
        var reader = ByteReader(message.payload.bytes)
        guard let event = reader.read(UInt16.self) else { throw .malformedControlMessage(type: message.type) }
        if event == UserControlEvent.pingRequest, let stamp = reader.readBytes(count: 4) {
            writeUserControl(UserControlEvent.pingResponse, stamp)
        }
    }

    private mutating func resizeWindow(_ message: RTMPMessage) throws(RTMPError) {
        var reader = ByteReader(message.payload.bytes)
        guard let size = reader.read(UInt32.self) else { throw .malformedControlMessage(type: message.type) }
        try window.resize(to: size)
    }
}
