import Glibc

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

    func removeAll() { count = 0 }
    func truncate(to count: Int) { self.count = count }
}
