/// Why a datagram is not RTCP. The whole compound is dropped: one bad length makes the rest guesswork.
public enum RTCPError: Error, Equatable, Sendable {
    case truncated
    case unsupportedVersion(UInt8)
    /// Padding anywhere but in the last packet, or of a count that cannot be (RFC 3550 §6.4.1, §A.2).
    case invalidPadding
    /// A packet's own length does not hold what its counts promise.
    case invalidLength(packetType: UInt8)
    case tooManyPackets
}
