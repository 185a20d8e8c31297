import StageHub

/// Packets of one layer that brought parameter sets, until the slice behind them comes: only that tells whether a keyframe begins
/// with them. Who begins there cannot do without them, and encoders may repeat them before any picture. Confined.
@safe final class WaitingSets {
    /// Their payloads lie in `memory`.
    private(set) var packets: [MediaPacket] = []
    private let memory: UnsafeMutableRawBufferPointer
    private var byteCount = 0

    init() {
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 16)
        packets.reserveCapacity(Self.maximumCount)
    }

    deinit { unsafe memory.deallocate() }

    var isEmpty: Bool { packets.isEmpty }

    /// Copies a packet. What was handed out of here before must not be in use any more when the first one is kept.
    /// - Returns: false where there is no room.
    func keep(_ packet: MediaPacket) -> Bool {
        let payload = unsafe packet.payload
        let end = byteCount + payload.count
        guard packets.count < Self.maximumCount, end <= Self.size else { return false }
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[byteCount..<end])
        unsafe room.copyMemory(from: payload)
        unsafe packets.append(
            MediaPacket(
                sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                payload: UnsafeRawBufferPointer(room)))
        byteCount = end
        return true
    }

    /// The bytes stay until the next packet is kept.
    func removeAll() {
        packets.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// Parameter sets and SEI messages of one picture, each in a packet of its own.
    private static let maximumCount = 16
    /// Pages that nothing was written to cost nothing.
    private static let size = 8_192
}
