/// Counts received bytes, handshake included, and tells when the peer waits for an Acknowledgement (RTMP 1.0 §5.4.3, §5.4.4).
///
/// It is sent at half a window: an encoder that holds to its window would stand still for a round trip at each whole one.
struct ReceiveWindow {
    /// What encoders are told to send unacknowledged at most. Those that hold to it never fill a larger one.
    static let maximumSize: UInt32 = 2_500_000
    /// A smaller wish is not followed: it would only make work.
    private static let minimumSize: UInt32 = 4_096

    private var size = maximumSize
    private var receivedByteCount: UInt64 = 0
    private var acknowledgedByteCount: UInt64 = 0

    mutating func resize(to size: UInt32) throws(RTMPError) {
        guard size > 0 else { throw .invalidWindow }
        self.size = min(max(size, Self.minimumSize), Self.maximumSize)
    }

    /// - Returns: whether half a window waits to be acknowledged.
    mutating func received(_ count: Int) -> Bool {
        receivedByteCount += UInt64(count)
        return receivedByteCount - acknowledgedByteCount >= UInt64(size / 2)
    }

    /// The sequence number of all that has come: bytes modulo 2^32.
    mutating func acknowledge() -> UInt32 {
        acknowledgedByteCount = receivedByteCount
        return UInt32(truncatingIfNeeded: receivedByteCount)
    }
}
