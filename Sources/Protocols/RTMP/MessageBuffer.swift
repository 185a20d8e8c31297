/// Memory in which the chunks of one message are put together. It grows with what has come, never with what was declared.
final class MessageBuffer {
    private static let minimumCapacity = 4_096
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var count = 0

    var capacity: Int { memory.count }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// - Parameter messageLength: the buffer never grows beyond it.
    func append(_ chunk: UnsafeRawBufferPointer, of messageLength: Int) {
        let needed = count + chunk.count
        if needed > capacity { grow(to: min(messageLength, max(needed, 2 * capacity, Self.minimumCapacity))) }
        UnsafeMutableRawBufferPointer(rebasing: memory[count..<needed]).copyMemory(from: chunk)
        count = needed
    }

    func removeAll() { count = 0 }

    private func grow(to capacity: Int) {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        grown.copyMemory(from: bytes)
        memory.deallocate()
        memory = grown
    }

    deinit { memory.deallocate() }
}

/// Buffers that wait for the next message, so that steady media allocates nothing.
struct MessageBufferPool {
    /// Audio and video are seldom under way at once, more never.
    private static let maximumCount = 2
    /// Larger ones came from keyframes, one in 60 pictures, and go back to the system: they would be two thirds of a stream.
    private static let maximumCapacity = 64 << 10
    private var spare: [MessageBuffer] = []

    mutating func take() -> MessageBuffer { spare.popLast() ?? MessageBuffer() }

    mutating func giveBack(_ buffer: MessageBuffer) {
        buffer.removeAll()
        guard spare.count < Self.maximumCount, buffer.capacity <= Self.maximumCapacity else { return }
        spare.append(buffer)
    }
}
