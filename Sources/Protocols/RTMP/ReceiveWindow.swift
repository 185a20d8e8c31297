/// Counts received bytes, handshake included, and tells when the peer waits for an Acknowledgement (RTMP 1.0 §5.4.3, §5.4.4).
struct ReceiveWindow {
    private static let defaultSize: UInt32 = 2_500_000
    /// A smaller wish is not followed: it would only make work.
    private static let minimumSize: UInt32 = 4_096

    private var size = defaultSize
    private var receivedByteCount: UInt64 = 0
    private var acknowledgedByteCount: UInt64 = 0

    mutating func resize(to size: UInt32) throws(RTMPError) {
        guard size > 0 else { throw .invalidWindow }
        self.size = max(size, Self.minimumSize)
    }

    /// - Returns: the sequence number to acknowledge, bytes received modulo 2^32, once a window is full.
    mutating func received(_ count: Int) -> UInt32? {
        receivedByteCount += UInt64(count)
        guard receivedByteCount - acknowledgedByteCount >= UInt64(size) else { return nil }
        acknowledgedByteCount = receivedByteCount
        return UInt32(truncatingIfNeeded: receivedByteCount)
    }
}
