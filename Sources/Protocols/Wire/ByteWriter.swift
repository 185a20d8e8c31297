/// Appends integers in network byte order; for messages that are built seldom. The media path writes in place instead.
public struct ByteWriter: Sendable {
    @usableFromInline var storage: [UInt8]
    /// What has been written.
    @inlinable public var bytes: [UInt8] { storage }

    /// - Parameter capacity: bytes that are likely to be written.
    public init(reserving capacity: Int = 64) {
        storage = []
        storage.reserveCapacity(capacity)
    }

    /// Bytes written.
    public var count: Int { storage.count }

    /// All bytes of `value`.
    @inlinable
    public mutating func write<T: FixedWidthInteger>(_ value: T) { storage.append(bigEndian: value) }

    /// The low 24 bits of `value`.
    public mutating func writeUInt24(_ value: UInt32) { storage.appendUInt24(value) }

    /// Appends bytes as they are.
    @inlinable
    public mutating func write(contentsOf other: some Sequence<UInt8>) { storage.append(contentsOf: other) }

    /// Overwrites the two bytes at `offset`, written earlier as a place for a length.
    public mutating func patch(_ value: UInt16, at offset: Int) {
        storage[offset] = UInt8(truncatingIfNeeded: value >> 8)
        storage[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}

/// Integers in network byte order behind what is there already.
extension [UInt8] {
    /// Inlinable, because integers of unknown width cost a hundred times what appending their bytes does.
    @inlinable
    public mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        var shift = T.bitWidth - 8
        while shift >= 0 {
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
            shift -= 8
        }
    }

    /// The low 24 bits of `value`.
    public mutating func appendUInt24(_ value: UInt32) {
        append(UInt8(truncatingIfNeeded: value >> 16))
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }
}
