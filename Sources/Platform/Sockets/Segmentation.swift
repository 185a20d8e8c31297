import Glibc
import Wire

/// When UDP GSO is worth trying. Sans-IO.
///
/// A size that the path cannot carry, a device without checksum offload, a tunnel: the kernel refuses such runs, and the
/// destination then gets its datagrams one by one for a while.
struct SegmentationPolicy {
    /// The kernel's limit is 64 on old versions, and 64 KB in all with headers.
    static let maximumSegments = 54
    static let maximumRunBytes = 64_000
    /// UDP payload that fits the smallest MTU of IPv6 links (1,280). Longer datagrams go alone, where they may be fragmented.
    static let maximumSegmentBytes = 1_232
    static let pause = Duration.seconds(60)
    /// Destinations remembered as refusing; beyond that the oldest knowledge is forgotten, and tried again.
    static let maximumRefusals = 1_024

    private var refusedUntil: [SocketAddress: MonotonicTime] = [:]

    var refusalCount: Int { refusedUntil.count }

    /// How many datagrams of that size may go to `peer` in one call; 1 means without GSO.
    mutating func segments(ofSize size: Int, to peer: SocketAddress, now: MonotonicTime) -> Int {
        if let moment = refusedUntil[peer] {
            if moment > now { return 1 }
            refusedUntil[peer] = nil
        }
        return Self.segments(ofSize: size)
    }

    /// The same where no destination has ever refused a run.
    static func segments(ofSize size: Int) -> Int {
        size <= maximumSegmentBytes ? max(1, min(maximumSegments, maximumRunBytes / size)) : 1
    }

    mutating func runWasRefused(by peer: SocketAddress, now: MonotonicTime) {
        if refusedUntil.count >= Self.maximumRefusals { refusedUntil = refusedUntil.filter { $0.value > now } }
        if refusedUntil.count >= Self.maximumRefusals { refusedUntil.removeAll() }
        refusedUntil[peer] = now + Self.pause
    }

    /// What a run is refused with as such. EINVAL: the path is smaller; EIO: no checksum offload; EMSGSIZE: more than 64 KB.
    static func isAboutSegmentation(_ code: CInt) -> Bool { code == EINVAL || code == EIO || code == EMSGSIZE }
}

/// Walks pieces of memory that together are a run of datagrams, and gathers some of them for one send call.
@safe
struct SegmentCursor {
    private let pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>
    private var index = 0
    /// Bytes of the current piece that have been taken.
    private var offset = 0

    init(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        unsafe self.pieces = pieces
        skipEmpty()
    }

    var isAtEnd: Bool { unsafe index == pieces.count }

    /// Gathers at most `limit` datagrams, fewer when the buffer is full, but one at least; returns how many.
    mutating func take(_ limit: Int, segmentSize: Int, into vectors: VectorBuffer) -> Int {
        vectors.removeAll()
        var (segments, missing) = (0, segmentSize)
        // Where the datagram at hand begins, for one that the buffer does not hold whole.
        var (start, filled) = ((index, offset), 0)
        while !isAtEnd {
            let piece = unsafe pieces[index]
            let part = min(missing, piece.count - offset)
            guard unsafe vectors.append(piece.baseAddress, from: offset, count: part) else {
                if segments > 0 {
                    ((index, offset), missing) = (start, segmentSize)
                    vectors.truncate(to: filled)
                }
                break
            }
            (offset, missing) = (offset + part, missing - part)
            skipEmpty()
            guard missing == 0 else { continue }
            (segments, missing) = (segments + 1, segmentSize)
            if segments == limit { break }
            (start, filled) = ((index, offset), vectors.count)
        }
        return missing < segmentSize ? segments + 1 : segments
    }

    private mutating func skipEmpty() {
        while unsafe index < pieces.count, unsafe offset == pieces[index].count { (index, offset) = (index + 1, 0) }
    }
}

/// The vectors of one gathered send, reused for every one.
@safe
final class VectorBuffer {
    /// 53 datagrams of 1,200 bytes in up to nine pieces each; the kernel's own limit is 1,024.
    static let capacity = 512

    let start: UnsafeMutablePointer<iovec>
    private(set) var count = 0

    init() { unsafe start = .allocate(capacity: Self.capacity) }
    deinit { unsafe start.deallocate() }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe append(bytes.baseAddress, from: 0, count: bytes.count) }

    /// Gathers `length` bytes at `offset` of a piece of memory.
    /// - Returns: false when the buffer is full.
    func append(_ base: UnsafeRawPointer?, from offset: Int, count length: Int) -> Bool {
        guard count < Self.capacity else { return false }
        let bytes = unsafe base.map { unsafe UnsafeMutableRawPointer(mutating: $0 + offset) }
        unsafe (start + count).initialize(to: iovec(iov_base: bytes, iov_len: length))
        count += 1
        return true
    }

    /// Of all that is gathered.
    var byteCount: Int { (0..<count).reduce(0) { unsafe $0 + start[$1].iov_len } }

    /// Copies what is gathered, one piece behind the other.
    func copy(to target: UnsafeMutableRawPointer) {
        var end = unsafe target
        for index in 0..<count {
            guard let base = unsafe start[index].iov_base else { continue }
            unsafe end.copyMemory(from: base, byteCount: start[index].iov_len)
            unsafe end += start[index].iov_len
        }
    }

    func removeAll() { count = 0 }
    func truncate(to count: Int) { self.count = count }
}
