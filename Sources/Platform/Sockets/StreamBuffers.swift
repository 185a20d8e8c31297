/// Where the streams of one loop are read into: one at a time, so one place is enough for all.
///
/// This is why streams sit on their descriptors and not on libevent's bufferevents: a bufferevent keeps at least 4 kB of input
/// and asks FIONREAD before every read; here an idle connection holds no buffer, a read is one system call, and the parser
/// looks at the bytes where the kernel put them.
@safe
final class StreamBuffers {
    /// One read; also about what a turn should spend on one stream.
    static let readBytes = 65_536

    /// What a stream had left unconsumed, and behind it what is new.
    private let window: UnsafeMutableRawBufferPointer
    /// What TLS is to decrypt into the window.
    let ciphertext: UnsafeMutableRawBufferPointer

    init() {
        let capacity = TCPStream.maximumUnconsumedBytes + Self.readBytes
        unsafe window = .allocate(byteCount: capacity, alignment: 16)
        unsafe ciphertext = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe window.deallocate()
        unsafe ciphertext.deallocate()
    }

    /// Where new bytes go behind so many that were left.
    func room(behind count: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: window[count...])
    }

    /// Puts what was left in front of the new bytes, which lie behind its room.
    /// - Returns: both together, until the next stream is read.
    func join(_ left: inout [UInt8], with count: Int) -> UnsafeRawBufferPointer {
        let all = unsafe UnsafeRawBufferPointer(rebasing: window[..<(left.count + count)])
        guard !left.isEmpty else { return unsafe all }
        unsafe left.withUnsafeBytes { unsafe window.copyMemory(from: $0) }
        left = []
        return unsafe all
    }
}
