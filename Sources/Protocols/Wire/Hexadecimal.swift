extension String {
    /// Bytes as hexadecimal digits, two for each (RFC 4648 §8).
    ///
    ///     String(hexadecimal: [0x0A, 0xFF])                                           // "0aff"
    ///     String(hexadecimal: [0x0A, 0xFF], separator: ":", isUppercase: true)        // "0A:FF"
    @inlinable
    public init(hexadecimal bytes: some Collection<UInt8>, separator: String = "", isUppercase: Bool = false) {
        var digits: [UInt8] = []
        digits.reserveCapacity((2 + separator.utf8.count) * bytes.count)
        for byte in bytes {
            if !digits.isEmpty { digits.append(contentsOf: separator.utf8) }
            digits.append(UInt8(hexadecimalDigitOf: byte >> 4, isUppercase: isUppercase))
            digits.append(UInt8(hexadecimalDigitOf: byte & 15, isUppercase: isUppercase))
        }
        self.init(decoding: digits, as: UTF8.self)
    }

    /// The UUID (RFC 9562 §4) of these 16 bytes, `a9c0b9b4-5f0e-4c57-8d3a-0d6f1c2b3a49`; version and
    /// variant are written over them.
    public init(uuid bytes: some Collection<UInt8>, version: UInt8) {
        var bytes = Array(bytes)
        precondition(bytes.count == 16 && version < 16, "a UUID is 16 bytes with a version of four bits")
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { String(hexadecimal: bytes[$0]) }.joined(separator: "-")
    }
}

extension Array where Element == UInt8 {
    /// The bytes that hexadecimal digits of either case spell; nil for an odd number of them and for anything else.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8
        guard digits.count % 2 == 0 else { return nil }
        self = []
        reserveCapacity(digits.count / 2)
        var rest = digits.makeIterator()
        while let first = rest.next() {
            guard let high = first.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
            append(high << 4 | low)
        }
    }
}

extension UInt8 {
    /// What an ASCII hexadecimal digit of either case stands for, 0 to 15; nil for any other byte.
    @inlinable
    public var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// The ASCII digit of `nibble`, which is 0 to 15.
    @inlinable
    public init(hexadecimalDigitOf nibble: UInt8, isUppercase: Bool = false) {
        self = nibble < 10 ? 0x30 + nibble : (isUppercase ? 0x37 : 0x57) + nibble
    }
}
