import Wire

/// The very bytes sent in the last 250 ms, protected ones included, to answer NACKs from (DESIGN.md 6.2): never encrypted again.
final class RetransmissionRing {
    struct Note {
        var sequenceNumber: Int64
        var sent: MonotonicTime
    }

    static let maximumAge = Duration.milliseconds(250)
    static let maximumByteCount = 1_000_000

    private let queue: PacketQueue<Note>

    init(pool: PacketPool) { queue = PacketQueue(pool: pool) }

    /// Keeps the packets of a batch as they go out; their extended sequence numbers are read near `highest`.
    func keep(_ batch: WireBatch, highest: Int64, at now: MonotonicTime) {
        for index in 0..<batch.count {
            let pieces = batch.pieces(of: index..<(index + 1))
            let low = UInt16(bigEndian: pieces[0].loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            let number = highest + Int64(Int16(bitPattern: low &- UInt16(truncatingIfNeeded: highest)))
            queue.append(pieces[0], pieces[1], note: Note(sequenceNumber: number, sent: now))
        }
        trim(at: now)
    }

    /// The packet with the 16-bit number; nil when it has gone.
    func packet(_ sequenceNumber: UInt16, at now: MonotonicTime) -> UnsafeRawBufferPointer? {
        trim(at: now)
        guard let first = queue.first?.note.sequenceNumber else { return nil }
        // Gaps only take entries away, so that the packet stands no farther back than its number's distance.
        let distance = Int(sequenceNumber &- UInt16(truncatingIfNeeded: first))
        var index = min(distance, queue.count - 1)
        let wanted = first + Int64(distance)
        while index >= 0, queue[index].note.sequenceNumber > wanted { index -= 1 }
        return index >= 0 && queue[index].note.sequenceNumber == wanted ? queue[index].bytes : nil
    }

    func removeAll() { queue.removeAll() }

    private func trim(at now: MonotonicTime) {
        while let first = queue.first, now - first.note.sent > Self.maximumAge || queue.byteCount > Self.maximumByteCount {
            queue.removeFirst()
        }
    }
}
