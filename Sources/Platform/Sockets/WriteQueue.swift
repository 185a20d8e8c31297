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
