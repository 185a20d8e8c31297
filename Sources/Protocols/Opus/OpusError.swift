/// What can be wrong with an Opus packet or header from a peer.
public enum OpusError: Error, Equatable, Sendable {
    case truncated
    /// More frames than 120 ms hold, or a frame count of 0 (RFC 6716 §3.2.5).
    case invalidFrameCount
    /// Not `OpusHead`, or a version whose upper half is not 0 (RFC 7845 §5.1).
    case unsupportedHeader
}
