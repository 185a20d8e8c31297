import RTP
import Wire

/// The very bytes sent in the last 250 ms, protected ones included, to answer NACKs from: never encrypted again
/// (docs/design.md 6.2).
final class RetransmissionRing {
    /// Each packet with when it was sent.
    private let queue: PacketQueue<MonotonicTime>
    /// More than the packets of a megabyte; positions count from the ring's beginning.
    private var index = SequenceIndex(capacity: 1_024)
    private var firstPosition = 0

    init(pool: PacketPool) { queue = PacketQueue(pool: pool) }

    /// Keeps the packets of a batch as they go out.
    func keep(_ batch: WireBatch, at now: MonotonicTime) {
        for packet in 0..<batch.count {
            let pieces = unsafe batch.pieces(of: packet..<(packet + 1))
            let number = unsafe UInt16(bigEndian: pieces[0].loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            index.note(Int64(number), at: firstPosition + queue.count)
            unsafe queue.append(pieces[0], pieces[1], note: now)
        }
        trim(at: now)
    }

    /// The packet with the 16-bit number; nil when it has gone.
    func packet(_ sequenceNumber: UInt16, at now: MonotonicTime) -> UnsafeRawBufferPointer? {
        trim(at: now)
        guard let position = index.position(of: Int64(sequenceNumber)), position >= firstPosition else { return nil }
        return unsafe queue[position - firstPosition].bytes
    }

    private func trim(at now: MonotonicTime) {
        while let first = queue.first, now - first.note > Self.maximumAge || queue.byteCount > Self.maximumByteCount {
            queue.removeFirst()
            firstPosition += 1
        }
    }

    static let maximumAge = Duration.milliseconds(250)
    static let maximumByteCount = 1_000_000
}
