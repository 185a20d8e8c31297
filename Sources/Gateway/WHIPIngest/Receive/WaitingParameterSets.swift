import StageHub

/// Packets of one layer that brought parameter sets, kept until the slice behind them comes: encoders may repeat their sets
/// before any picture, and only the slice tells whether a keyframe begins with them, which nobody can decode without. Confined.
@safe final class WaitingParameterSets {
    /// Their payloads lie in `memory`.
    private(set) var packets: [MediaPacket] = []
    /// Grows to the most that has waited: little for most encoders, nothing for a layer that never comes.
    private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var byteCount = 0

    deinit { unsafe memory.deallocate() }

    var isEmpty: Bool { packets.isEmpty }

    /// Copies a packet. The first one after `removeAll` overwrites what was handed out before, which must be out of use by then.
    /// - Returns: false where there is no room.
    func keep(_ packet: MediaPacket) -> Bool {
        guard packets.count < Self.maximumCount else { return false }
        while !append(packet) {
            guard unsafe memory.count < Self.maximumByteCount else { return false }
            grow()
        }
        return true
    }

    private func append(_ packet: MediaPacket) -> Bool {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
        guard let copy = unsafe packet.copied(into: room) else { return false }
        packets.append(copy)
        byteCount += copy.payloadByteCount
        return true
    }

    /// Copies what waits into twice as much memory.
    private func grow() {
        let (former, waiting) = unsafe (memory, packets)
        unsafe memory = .allocate(byteCount: max(Self.usualByteCount, 2 * former.count), alignment: 16)
        removeAll()
        for packet in waiting { _ = append(packet) }
        unsafe former.deallocate()
    }

    /// The bytes stay until the next packet is kept.
    func removeAll() {
        packets.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// Parameter sets and SEI messages of one picture, each in a packet of its own.
    private static let maximumCount = 16
    private static let usualByteCount = 512
    /// Sixteen times what is usual.
    private static let maximumByteCount = 8_192
}
