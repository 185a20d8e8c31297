/// What goes out on a stream: at once as far as the kernel takes it; the rest waits, in order. It knows no loop and calls nobody:
/// every call returns what has come of it.
struct SendingSide {
    enum Outcome: Equatable {
        /// Everything is with the kernel.
        case done
        /// Some of it waits until the kernel takes more.
        case waiting
        /// The connection takes nothing any more (errno).
        case broken(CInt)
    }

    /// Sending was given up after this errno; what had come before is still being read.
    private(set) var fault: CInt?
    private var queue = WriteQueue()

    var waitingByteCount: Int { queue.count }
    var isEmpty: Bool { queue.isEmpty }

    /// Sends bytes behind those that wait. Does nothing once sending was given up.
    /// - Parameter descriptor: nil before the connection stands, so that they wait.
    mutating func send(_ bytes: UnsafeRawBufferPointer, over descriptor: OwnedDescriptor?) -> Outcome {
        guard fault == nil else { return .done }
        var rest = unsafe bytes
        if queue.isEmpty, let descriptor {
            switch unsafe descriptor.send(bytes) {
            case .taken(let count): unsafe rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
            case .broken(let fault): return .broken(fault)
            }
            if unsafe rest.isEmpty { return .done }
        }
        unsafe queue.append(rest)
        return .waiting
    }

    /// Sends what waits, once more.
    mutating func flush(over descriptor: OwnedDescriptor) -> Outcome {
        switch unsafe queue.withFirst({ unsafe descriptor.send($0) }) {
        case .taken(let count): queue.removeFirst(count)
        case .broken(let fault): return .broken(fault)
        }
        return queue.isEmpty ? .done : .waiting
    }

    /// What waits is lost, and nothing more is sent.
    mutating func giveUp(after fault: CInt) { (self.fault, queue) = (fault, WriteQueue()) }
}

/// Bytes that the kernel did not take at once, in order.
struct WriteQueue {
    private var bytes: [UInt8] = []
    private var head = 0

    var count: Int { bytes.count - head }
    var isEmpty: Bool { head == bytes.count }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        // Moves what is left to the front only when that is less than what has gone: every byte moves once at most.
        if head > bytes.count / 2 {
            bytes.removeSubrange(..<head)
            head = 0
        }
        unsafe bytes.append(contentsOf: more)
    }

    func withFirst<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    }

    mutating func removeFirst(_ count: Int) {
        head += count
        // An idle stream keeps no memory.
        if isEmpty { (bytes, head) = ([], 0) }
    }
}
