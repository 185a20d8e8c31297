import Wire

extension JSONParser {
    /// A string (RFC 8259 §7): escapes resolved, surrogate pairs joined, control characters and broken UTF-8 refused.
    mutating func parseString() throws(JSONError) -> String {
        position += 1
        let start = position
        while try current() != UInt8(ascii: "\"") {
            if text[position] == UInt8(ascii: "\\") { return try parseEscapedString(from: start) }
            guard text[position] >= 0x20 else { throw unexpected() }
            position += 1
        }
        defer { position += 1 }
        return try decoded(text[start..<position], offset: start)
    }

    private mutating func parseEscapedString(from start: Int) throws(JSONError) -> String {
        var bytes = Array(text[start..<position])
        while try current() != UInt8(ascii: "\"") {
            if text[position] == UInt8(ascii: "\\") {
                try parseEscape(into: &bytes)
            } else {
                guard text[position] >= 0x20 else { throw unexpected() }
                bytes.append(text[position])
                position += 1
            }
        }
        position += 1
        return try decoded(bytes[...], offset: start)
    }

    private mutating func parseEscape(into bytes: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let letter = try current()
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes.append(contentsOf: UTF8.encode(try parseUnicodeEscape(from: start))!)
        default: throw .invalidEscape(offset: start)
        }
    }

    /// The scalar of `\uXXXX`, or of two of them that form a surrogate pair; `position` stands behind the first `\u`.
    private mutating func parseUnicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
        let unit = try parseHexDigits(from: start)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), try skip(UInt8(ascii: "\\")), try skip(UInt8(ascii: "u")) else {
            throw .invalidEscape(offset: start)
        }
        let trail = try parseHexDigits(from: start)
        guard UTF16.isTrailSurrogate(trail) else { throw .invalidEscape(offset: start) }
        let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF))
        guard let scalar = Unicode.Scalar(value) else { throw .invalidEscape(offset: start) }
        return scalar
    }

    private mutating func parseHexDigits(from start: Int) throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = try current().hexadecimalValue else { throw .invalidEscape(offset: start) }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    private func decoded(_ bytes: ArraySlice<UInt8>, offset: Int) throws(JSONError) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8(offset: offset) }
        return string
    }
}
