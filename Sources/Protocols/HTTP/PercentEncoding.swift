/// Percent-encoding (RFC 3986 §2.1).
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
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isUnreserved || keepingSlashes && byte == UInt8(ascii: "/") {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether every `%` begins an escape.
    static func isWellFormed(_ text: some StringProtocol) -> Bool {
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else { continue }
            guard rest.next()?.hexadecimalValue != nil, rest.next()?.hexadecimalValue != nil else { return false }
        }
        return true
    }
}
