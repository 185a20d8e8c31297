extension JSONParser {
    /// A number (RFC 8259 §6): exact when it is whole, has neither fraction nor exponent, and fits 64 bits.
    mutating func parseNumber() throws(JSONError) -> JSONValue {
        let start = position
        let isNegative = try skip(UInt8(ascii: "-"))
        let isWhole = try skipNumber()
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        if isWhole, let value = Int64(digits), !(value == 0 && isNegative) { return .integer(value) }
        guard let value = Double(digits), value.isFinite else { throw .numberOutOfRange(offset: start) }
        return .number(value)
    }

    /// Steps over integer part, fraction and exponent; true when only an integer part was there.
    private mutating func skipNumber() throws(JSONError) -> Bool {
        guard isDigit(try current()) else { throw unexpected() }
        if try !skip(UInt8(ascii: "0")) { skipDigits() }
        var isWhole = true
        if next(is: ".") {
            isWhole = false
            position += 1
            guard isDigit(try current()) else { throw unexpected() }
            skipDigits()
        }
        if next(is: "e") || next(is: "E") {
            isWhole = false
            position += 1
            if next(is: "+") || next(is: "-") { position += 1 }
            guard isDigit(try current()) else { throw unexpected() }
            skipDigits()
        }
        return isWhole
    }

    private mutating func skipDigits() {
        while position < text.count, isDigit(text[position]) { position += 1 }
    }

    private func next(is letter: Unicode.Scalar) -> Bool { position < text.count && text[position] == UInt8(ascii: letter) }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
