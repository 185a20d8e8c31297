/// Where the streams of one loop are read into: one at a time, so one place is enough for all.
///
/// This is why streams sit on their descriptors and not on libevent's bufferevents: a bufferevent keeps at least 4 kB of input
/// and asks FIONREAD before every read; here an idle connection holds no buffer, a read is one system call, and the parser
/// looks at the bytes where the kernel put them.
@safe
final class StreamBuffers {
    /// One read; also about what a turn should spend on one stream.
    static let readBytes = 65_536

    /// Room for what a stream had left unconsumed, and behind it for one read.
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

    /// Where new bytes go. It is always the same place: what was left is put in front of it afterwards.
    var room: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(rebasing: window[TCPStream.maximumUnconsumedBytes...])
    }

    /// Puts what was left in front of so many new bytes, which lie in `room`.
    /// - Returns: both together, until the next stream is read; nil where more was left than there is room for.
    func join(_ left: [UInt8], with count: Int) -> UnsafeRawBufferPointer? {
        let new = TCPStream.maximumUnconsumedBytes
        guard left.count <= new else { return nil }
        let both = unsafe UnsafeMutableRawBufferPointer(rebasing: window[(new - left.count)..<(new + count)])
        unsafe left.withUnsafeBytes { unsafe both.copyMemory(from: $0) }
        return UnsafeRawBufferPointer(both)
    }
}
