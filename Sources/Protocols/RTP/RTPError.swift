/// Why a datagram is not RTP, or breaks its own lengths. One bad datagram is counted and dropped.
public enum RTPError: Error, Equatable, Sendable {
    case truncated
    case unsupportedVersion(UInt8)
    /// The padding count is zero or reaches into the header (RFC 3550 §5.1).
    case invalidPadding(UInt8)
    /// A header extension element runs over the end of the extension (RFC 8285 §4).
    case invalidExtension
}
