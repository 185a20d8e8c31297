/// Percent-encoding (RFC 3986 §2.1).
///
///     PercentEncoding.encode("a b/c")             // "a%20b%2Fc"
///     PercentEncoding.decode("a%20b%2fc")         // "a b/c"
public enum PercentEncoding {
    /// The text that `encoded` stands for; nil when an escape is malformed or the bytes are not UTF-8.
    /// - Parameter plusIsSpace: as in forms and queries written by browsers.
    public static func decode(_ encoded: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.utf8.count)
        var rest = encoded.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Everything but RFC 3986's unreserved characters escaped with upper-case digits, as AWS signatures demand.
    /// - Parameter keepingSlashes: leaves `/` as it is, for whole paths.
    public static func encode(_ text: some StringProtocol, keepingSlashes: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte.isUnreserved || keepingSlashes && byte == UInt8(ascii: "/") {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(UInt8(hexadecimalDigitOf: byte >> 4, isUppercase: true))
                bytes.append(UInt8(hexadecimalDigitOf: byte & 15, isUppercase: true))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether every `%` begins an escape.
    public static func isWellFormed(_ text: some StringProtocol) -> Bool {
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else { continue }
            guard rest.next()?.hexadecimalValue != nil, rest.next()?.hexadecimalValue != nil else { return false }
        }
        return true
    }
}

extension UInt8 {
    /// `unreserved` of RFC 3986 §2.3, as ASCII: letters, digits, `-`, `.`, `_` and `~`.
    public var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
