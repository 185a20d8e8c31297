/// What a peer may make us keep (docs/design.md 7.5): little before it is known, more once it publishes.
public struct ChunkLimits: Sendable {
    public var messageLength: UInt32
    /// The declared lengths of all messages under way.
    public var partialByteCount: Int
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
