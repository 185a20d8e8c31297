/// A bit cursor over a NAL unit that leaves out emulation prevention bytes as it goes (clause 7.4.1.1), without a copy.
///
/// Lives only inside the call that lends it the bytes.
@safe struct RBSPReader {
    private let bytes: UnsafeRawBufferPointer
    private var nextByte: Int
    private var precedingZeros = 0
    private var current: UInt8 = 0
    private var bitsLeft = 0

    /// - Parameter start: where the payload begins, in bytes; 1 steps over the NAL unit header.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int = 1) {
        unsafe (self.bytes, nextByte) = unsafe (bytes, start)
    }

    mutating func readBit() throws(H264Error) -> Bool {
        if bitsLeft == 0 { try loadByte() }
        bitsLeft -= 1
        return current >> UInt8(bitsLeft) & 1 != 0
    }

    /// u(n), n at most 32.
    mutating func readBits(_ count: Int) throws(H264Error) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count { value = value << 1 | (try readBit() ? 1 : 0) }
        return value
    }

    mutating func skipBits(_ count: Int) throws(H264Error) {
        for _ in 0..<count { _ = try readBit() }
    }

    /// ue(v) (clause 9.1).
    mutating func readUnsigned() throws(H264Error) -> UInt32 {
        var leadingZeros = 0
        while try !readBit() {
            leadingZeros += 1
            guard leadingZeros <= 32 else { throw .codeTooLong }
        }
        let value = UInt64(1) << UInt64(leadingZeros) - 1 + UInt64(try readBits(leadingZeros))
        guard value <= UInt32.max else { throw .valueOutOfRange }
        return UInt32(value)
    }

    /// ue(v) that must not exceed `maximum`.
    mutating func readUnsigned(upTo maximum: UInt32) throws(H264Error) -> UInt32 {
        let value = try readUnsigned()
        guard value <= maximum else { throw .valueOutOfRange }
        return value
    }

    /// se(v) (clause 9.1.1).
    mutating func readSigned() throws(H264Error) -> Int64 {
        let code = Int64(try readUnsigned())
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    private mutating func loadByte() throws(H264Error) {
        guard unsafe nextByte < bytes.count else { throw .truncated }
        if precedingZeros >= 2, unsafe bytes[nextByte] == 3 {
            nextByte += 1
            precedingZeros = 0
            guard unsafe nextByte < bytes.count else { throw .truncated }
        }
        current = unsafe bytes[nextByte]
        nextByte += 1
        precedingZeros = current == 0 ? precedingZeros + 1 : 0
        bitsLeft = 8
    }
}
