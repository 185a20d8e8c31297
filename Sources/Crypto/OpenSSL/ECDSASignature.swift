/// The two forms of a P-384 signature: raw R‖S of JWS (RFC 7518 §3.4), and the DER SEQUENCE that OpenSSL speaks.
enum ECDSASignature {
    /// SEQUENCE header and two INTEGERs of 49 bytes.
    static let maximumDERLength = 104
    private static let integerLength = 48

    /// - Parameter raw: exactly 96 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8] {
        precondition(raw.count == 2 * integerLength, "callers check the length, which the peer supplies")
        let body = integer(raw[..<integerLength]) + integer(raw[integerLength...])
        return [0x30, UInt8(body.count)] + body
    }

    /// - Parameter der: as OpenSSL made it.
    static func raw(fromDER der: ArraySlice<UInt8>) -> [UInt8] {
        var rest = der.dropFirst(2)
        var raw: [UInt8] = []
        for _ in 0..<2 {
            let length = Int(rest[rest.startIndex + 1])
            let value = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
            raw += [UInt8](repeating: 0, count: integerLength - value.count) + value
            rest = rest.dropFirst(2 + length)
        }
        return raw
    }

    /// The shortest two's-complement form (X.690 §8.3): no leading zeros, but one before a set high bit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var value = Array(bytes.drop { $0 == 0 })
        if value.isEmpty || value[0] & 0x80 != 0 { value.insert(0, at: 0) }
        return [0x02, UInt8(value.count)] + value
    }
}
