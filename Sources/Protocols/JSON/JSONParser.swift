extension JSONValue {
    /// Parses one JSON text (RFC 8259), strictly: no comments, no trailing commas, no byte order mark, valid UTF-8 only, each name once.
    public init(parsing text: [UInt8], limits: JSONLimits = .standard) throws(JSONError) {
        guard text.count <= limits.maximumLength else { throw .tooLong }
        var parser = JSONParser(text: text, limits: limits)
        self = try parser.parseText()
    }

    public init(parsing text: some StringProtocol, limits: JSONLimits = .standard) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), limits: limits)
    }
}

/// A recursive-descent reader over one text; depth and number of values are bounded by its limits.
struct JSONParser {
    let text: [UInt8]
    let limits: JSONLimits
    var position = 0
    private var valuesLeft: Int

    init(text: [UInt8], limits: JSONLimits) {
        (self.text, self.limits, valuesLeft) = (text, limits, limits.maximumValues)
    }

    mutating func parseText() throws(JSONError) -> JSONValue {
        skipWhiteSpace()
        let value = try parseValue(depth: 0)
        skipWhiteSpace()
        guard position == text.count else { throw .trailingBytes(offset: position) }
        return value
    }

    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONValue {
        guard valuesLeft > 0 else { throw .tooManyValues }
        valuesLeft -= 1
        switch try current() {
        case UInt8(ascii: "{"): return .object(try parseObject(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try parseArray(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parse("true", as: .bool(true))
        case UInt8(ascii: "f"): return try parse("false", as: .bool(false))
        case UInt8(ascii: "n"): return try parse("null", as: .null)
        default: return try parseNumber()
        }
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONObject {
        guard depth <= limits.maximumDepth else { throw .tooDeep }
        var object = JSONObject()
        var names = Set<String>()
        position += 1
        skipWhiteSpace()
        if try skip(UInt8(ascii: "}")) { return object }
        while true {
            guard try current() == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try parseString()
            guard names.insert(name).inserted else { throw .duplicateName(name) }
            skipWhiteSpace()
            guard try skip(UInt8(ascii: ":")) else { throw unexpected() }
            skipWhiteSpace()
            object.appendUnique(name, try parseValue(depth: depth))
            skipWhiteSpace()
            if try skip(UInt8(ascii: "}")) { return object }
            guard try skip(UInt8(ascii: ",")) else { throw unexpected() }
            skipWhiteSpace()
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= limits.maximumDepth else { throw .tooDeep }
        var elements: [JSONValue] = []
        position += 1
        skipWhiteSpace()
        if try skip(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try parseValue(depth: depth))
            skipWhiteSpace()
            if try skip(UInt8(ascii: "]")) { return elements }
            guard try skip(UInt8(ascii: ",")) else { throw unexpected() }
            skipWhiteSpace()
        }
    }

    private mutating func parse(_ word: StaticString, as value: JSONValue) throws(JSONError) -> JSONValue {
        for offset in 0..<word.utf8CodeUnitCount {
            guard try skip(word.utf8Start[offset]) else { throw unexpected() }
        }
        return value
    }
}

extension JSONParser {
    func current() throws(JSONError) -> UInt8 {
        guard position < text.count else { throw .truncated }
        return text[position]
    }

    /// Steps over `byte` if it comes next.
    mutating func skip(_ byte: UInt8) throws(JSONError) -> Bool {
        guard try current() == byte else { return false }
        position += 1
        return true
    }

    mutating func skipWhiteSpace() {
        while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
    }

    func unexpected() -> JSONError { .unexpectedByte(text[position], offset: position) }
}
