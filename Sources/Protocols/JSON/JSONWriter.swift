import Wire

extension JSONValue {
    /// The compact JSON text: no white space, members in their order, only what RFC 8259 §7 demands escaped.
    public func serialized() -> [UInt8] {
        var text: [UInt8] = []
        write(into: &text)
        return text
    }

    /// Appends the compact JSON text to `text`.
    public func write(into text: inout [UInt8]) {
        switch self {
        case .null: text.append(contentsOf: "null".utf8)
        case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): text.append(contentsOf: String(value).utf8)
        case .number(let value): text.append(contentsOf: Self.text(of: value).utf8)
        case .string(let value): Self.write(value, into: &text)
        case .array(let elements): Self.write(elements, into: &text)
        case .object(let object): Self.write(object, into: &text)
        }
    }

    /// Appends `string` in quotes.
    public static func write(_ string: String, into text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        // Native strings give their bytes in place; nearly all of them hold nothing to be escaped.
        let isWritten = unsafe string.utf8.withContiguousStorageIfAvailable { bytes in
            if unsafe bytes.contains(where: needsEscape) { return false }
            unsafe text.append(contentsOf: bytes)
            return true
        }
        if isWritten != true { writeEscaped(string, into: &text) }
        text.append(UInt8(ascii: "\""))
    }

    private static func writeEscaped(_ string: String, into text: inout [UInt8]) {
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case 0x0A: text += Array(#"\n"#.utf8)
            case 0x0D: text += Array(#"\r"#.utf8)
            case 0x09: text += Array(#"\t"#.utf8)
            case 0..<0x20, 0x7F: text += Array(#"\u00\#(String(hexadecimal: CollectionOfOne(byte)))"#.utf8)
            default: text.append(byte)
            }
        }
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func write(_ elements: [JSONValue], into text: inout [UInt8]) {
        text.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            element.write(into: &text)
        }
        text.append(UInt8(ascii: "]"))
    }

    private static func write(_ object: JSONObject, into text: inout [UInt8]) {
        text.append(UInt8(ascii: "{"))
        for (index, member) in object.members.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            write(member.name, into: &text)
            text.append(UInt8(ascii: ":"))
            member.value.write(into: &text)
        }
        text.append(UInt8(ascii: "}"))
    }

    /// The shortest text that reads back equal; JSON has no infinities and no NaN, which become null.
    private static func text(of value: Double) -> String { value.isFinite ? value.description : "null" }
}
