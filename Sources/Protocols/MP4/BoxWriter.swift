import Wire

/// Writes boxes into one another (ISO/IEC 14496-12 §4.2): a size is filled in when what it counts has been written.
///
///     var writer = BoxWriter()
///     writer.box("moof") { moof in moof.fullBox("mfhd") { $0.write(sequenceNumber) } }
struct BoxWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving capacity: Int = 1_024) { bytes.reserveCapacity(capacity) }

    /// - Parameter type: four letters.
    mutating func box(_ type: StaticString, _ body: (inout BoxWriter) -> Void) {
        let start = bytes.count
        write(0 as UInt32)
        write(type)
        body(&self)
        // A fragment is bounded far below 4 GiB by whoever fills it (`Fragment.maximumByteCount`).
        patch(UInt32(bytes.count - start), at: start)
    }

    /// A box with version and flags (§4.2).
    mutating func fullBox(_ type: StaticString, version: UInt8 = 0, flags: UInt32 = 0, _ body: (inout BoxWriter) -> Void) {
        box(type) { writer in
            writer.write(UInt32(version) << 24 | flags)
            body(&writer)
        }
    }

    mutating func write<T: FixedWidthInteger>(_ value: T) { bytes.append(bigEndian: value) }

    mutating func write(_ fourLetters: StaticString) {
        fourLetters.withUTF8Buffer { letters in unsafe bytes.append(contentsOf: letters) }
    }

    mutating func write(contentsOf other: [UInt8]) { bytes.append(contentsOf: other) }

    mutating func writeZeros(_ count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

    /// The unity matrix of mvhd and tkhd (§8.2.2).
    mutating func writeUnityMatrix() {
        for value: UInt32 in [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000] { write(value) }
    }

    /// Overwrites four bytes that were written as a place for a number.
    mutating func patch(_ value: UInt32, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index)) }
    }
}
