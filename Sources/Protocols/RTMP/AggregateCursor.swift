import FLV

/// Walks the FLV tags of an aggregate message (RTMP 1.0 §7.1.6); their stamps count from the message's own.
struct AggregateCursor {
    private let payload: UnsafeRawBufferPointer
    private let timestamp: UInt32
    private let streamID: UInt32
    private var offset = 0
    private var first: UInt32?

    init(_ message: RTMPMessage) { (payload, timestamp, streamID) = (message.payload, message.timestamp, message.streamID) }

    /// The next tag as the message it stands for; nil at the end, and where the rest makes no sense.
    mutating func next() -> RTMPMessage? {
        guard let tag = try? FLVTag.next(in: payload.bytes, at: &offset) else { return nil }
        if first == nil { first = tag.timestamp }
        return RTMPMessage(
            type: tag.type, timestamp: timestamp &+ tag.timestamp &- (first ?? 0), streamID: streamID,
            payload: UnsafeRawBufferPointer(rebasing: payload[tag.body]))
    }
}
