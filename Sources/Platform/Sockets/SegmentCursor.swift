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
        var segments = 0
        while segments < limit, !isAtEnd {
            let (start, filled) = (self, vectors.count)
            guard takeOne(segmentSize, into: vectors) || segments == 0 else {
                self = start
                vectors.truncate(to: filled)
                break
            }
            segments += 1
        }
        return segments
    }

    /// Returns false when the buffer was too small for all of the datagram's pieces.
    private mutating func takeOne(_ segmentSize: Int, into vectors: VectorBuffer) -> Bool {
        var missing = segmentSize
        while missing > 0, !isAtEnd {
            let piece = unsafe pieces[index]
            let part = min(missing, piece.count - offset)
            guard unsafe vectors.append(UnsafeRawBufferPointer(rebasing: piece[offset..<offset + part])) else { return false }
            missing -= part
            offset += part
            skipEmpty()
        }
        return true
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

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard count < Self.capacity else { return false }
        unsafe (start + count).initialize(
            to: iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count))
        count += 1
        return true
    }

    func removeAll() { count = 0 }
    func truncate(to count: Int) { self.count = count }
}
