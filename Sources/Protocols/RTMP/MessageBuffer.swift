/// Memory in which the chunks of one message are put together. It grows with what has come, never with what was declared.
@safe final class MessageBuffer {
    private static let minimumCapacity = 4_096
    private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var count = 0

    var capacity: Int { unsafe memory.count }
    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// - Parameter messageLength: the buffer never grows beyond it.
    func append(_ chunk: UnsafeRawBufferPointer, of messageLength: Int) {
        let needed = count + chunk.count
        if needed > capacity { grow(to: min(messageLength, max(needed, 2 * capacity, Self.minimumCapacity))) }
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count..<needed]).copyMemory(from: chunk)
        count = needed
    }

    func removeAll() { count = 0 }

    private func grow(to capacity: Int) {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        unsafe grown.copyMemory(from: bytes)
        unsafe memory.deallocate()
        unsafe memory = grown
    }

    deinit { unsafe memory.deallocate() }
}

/// Buffers that wait for the next message, so that steady media allocates nothing. One serves all publishers of a thread.
///
/// A message is mostly taken, filled and forwarded in one go: what many connections share is memory that the caches know, and
/// that has already grown to the largest keyframe, where each one's own would be neither.
public final class MessageBufferPool {
    /// Messages of which a part is still to come, audio and video of some publishers at the same time.
    private static let maximumCount = 4
    /// The longest keyframe measured, 264 packets, is shorter; larger ones go back to the system.
    private static let maximumCapacity = 320 << 10
    private var spare: [MessageBuffer] = []

    /// A pool without buffers: they come as messages need them.
    public init() { spare.reserveCapacity(Self.maximumCount) }

    func take() -> MessageBuffer { spare.popLast() ?? MessageBuffer() }

    func giveBack(_ buffer: MessageBuffer) {
        buffer.removeAll()
        guard spare.count < Self.maximumCount, buffer.capacity <= Self.maximumCapacity else { return }
        spare.append(buffer)
    }
}
