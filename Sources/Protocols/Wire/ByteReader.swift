/// A cursor over bytes that somebody else owns: every read answers nil at the end, so a parser is one guard with many reads.
///
/// Reads are big-endian (network order). The cursor borrows its bytes and cannot outlive them.
///
///     var reader = ByteReader(bytes)
///     guard let type = reader.read(UInt8.self), let length = reader.read(UInt16.self),
///         let body = reader.readSpan(count: Int(length))
///     else { throw .truncated }
public struct ByteReader: ~Escapable {
    @usableFromInline let bytes: RawSpan
    @usableFromInline var position = 0
    /// Bytes consumed so far.
    @inlinable public var offset: Int { position }

    /// A cursor at the first of `bytes`.
    @inlinable @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) { self.bytes = bytes }

    /// Bytes not yet consumed.
    @inlinable public var remaining: Int { bytes.byteCount - offset }
    /// Nothing is left.
    @inlinable public var isAtEnd: Bool { offset == bytes.byteCount }

    /// The next integer in network byte order; nil, and nothing consumed, when too few bytes are left.
    @inlinable
    public mutating func read<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) -> T? {
        let size = MemoryLayout<T>.size
        guard remaining >= size else { return nil }
        defer { advance(size) }
        return T(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))  // in bounds: guarded above
    }

    /// The next three bytes as an unsigned number (RTMP timestamps and lengths, RTCP loss counters).
    @inlinable
    public mutating func readUInt24() -> UInt32? {
        guard remaining >= 3, let high = read(UInt8.self), let low = read(UInt16.self) else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    /// The next byte without consuming it.
    @inlinable
    public func peek() -> UInt8? {
        guard remaining >= 1 else { return nil }
        return unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)  // in bounds: guarded above
    }

    /// The next `count` bytes as a view; nil, and nothing consumed, when fewer are left or `count` is negative.
    @inlinable @_lifetime(copy self)
    public mutating func readSpan(count: Int) -> RawSpan? {
        guard count >= 0, remaining >= count else { return nil }
        defer { advance(count) }
        return bytes.extracting(offset..<(offset + count))
    }

    /// The next `count` bytes as a copy.
    @inlinable
    public mutating func readBytes(count: Int) -> [UInt8]? {
        guard let span = readSpan(count: count) else { return nil }
        return [UInt8](copying: span)
    }

    /// Steps over `count` bytes; false, and nothing consumed, when fewer are left.
    @inlinable
    public mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, remaining >= count else { return false }
        advance(count)
        return true
    }

    @inlinable
    mutating func advance(_ count: Int) { position += count }
}

extension Array where Element == UInt8 {
    /// A copy of the bytes of `span`.
    @inlinable
    public init(copying span: RawSpan) {
        self = unsafe span.withUnsafeBytes { unsafe Array($0) }
    }
}
