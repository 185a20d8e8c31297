extension String {
    /// Bytes as lower-case hexadecimal digits, two for each.
    @inlinable
    public init(hexadecimal bytes: some Collection<UInt8>) {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            digits.append(Self.hexadecimalDigit(byte >> 4))
            digits.append(Self.hexadecimalDigit(byte & 15))
        }
        self.init(decoding: digits, as: UTF8.self)
    }

    @usableFromInline
    static func hexadecimalDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }
}
