import Wire

extension JSONValue {
    /// Parses one JSON text (RFC 8259), strictly: no comments, no trailing commas, no byte order mark,
    /// valid UTF-8 only, each name once.
    public init(parsing text: [UInt8], limits: JSONLimits = .standard) throws(JSONError) {
        guard text.count <= limits.maximumLength else { throw .tooLong }
        var parser = JSONParser(text: text, limits: limits)
        self = try parser.parseText()
    }

    /// Parses the UTF-8 of `text`, by the same rules.
    public init(parsing text: some StringProtocol, limits: JSONLimits = .standard) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), limits: limits)
    }
}

/// A recursive-descent reader over one text; depth and number of values are bounded by its limits.
private struct JSONParser {
    private let text: [UInt8]
    private let limits: JSONLimits
    private var position = 0
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
        var names = Set<NameBytes>()
        position += 1
        skipWhiteSpace()
        if try skip(UInt8(ascii: "}")) { return object }
        while true {
            guard try current() == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try parseString()
            guard names.insert(NameBytes(name: name)).inserted else { throw .duplicateName(name) }
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

    private mutating func parse(_ word: String, as value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in word.utf8 {
            guard try skip(byte) else { throw unexpected() }
        }
        return value
    }
}

extension JSONParser {
    private func current() throws(JSONError) -> UInt8 {
        guard position < text.count else { throw .truncated }
        return text[position]
    }

    /// Steps over `byte` if it comes next.
    private mutating func skip(_ byte: UInt8) throws(JSONError) -> Bool {
        guard try current() == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
    }

    private func unexpected() -> JSONError { .unexpectedByte(text[position], offset: position) }
}

extension JSONParser {
    /// A string (RFC 8259 §7): escapes resolved, surrogate pairs joined, control characters and broken UTF-8 refused.
    private mutating func parseString() throws(JSONError) -> String {
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
        case UInt8(ascii: "u"): bytes.append(contentsOf: (try parseUnicodeEscape(from: start)).utf8)
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

extension JSONParser {
    /// A number (RFC 8259 §6): exact when it is whole, has neither fraction nor exponent, and fits 64 bits.
    private mutating func parseNumber() throws(JSONError) -> JSONValue {
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

/// What a JSON text may cost its reader.
public struct JSONLimits: Sendable {
    /// Bytes of the whole text.
    public var maximumLength: Int
    /// Arrays and objects inside each other; the reader recurses once per level.
    public var maximumDepth: Int
    /// Values in the whole text: each costs some 40 bytes of memory however short its text.
    public var maximumValues: Int

    /// The defaults are those of `standard`.
    public init(maximumLength: Int = 256 * 1024, maximumDepth: Int = 32, maximumValues: Int = 20_000) {
        (self.maximumLength, self.maximumDepth, self.maximumValues) = (maximumLength, maximumDepth, maximumValues)
    }

    /// Request and answer bodies of the control API and of routers.
    public static let standard = JSONLimits()
}

/// Why bytes are not the JSON text we take. Offsets count bytes from the start.
public enum JSONError: Error, Equatable, Sendable {
    /// The text ends inside a value.
    case truncated
    /// A byte that cannot stand where it stands.
    case unexpectedByte(UInt8, offset: Int)
    /// Bytes other than white space follow the value.
    case trailingBytes(offset: Int)
    /// A string that is not UTF-8; the offset is that of its first byte.
    case invalidUTF8(offset: Int)
    /// An unknown escape, or a surrogate without its other half.
    case invalidEscape(offset: Int)
    /// A number whose magnitude no `Double` holds.
    case numberOutOfRange(offset: Int)
    /// An object names a member twice.
    case duplicateName(String)
    /// More bytes than `JSONLimits.maximumLength`.
    case tooLong
    /// More levels than `JSONLimits.maximumDepth`.
    case tooDeep
    /// More values than `JSONLimits.maximumValues`.
    case tooManyValues
}

/// A name told apart by its bytes, as `JSONObject` does: Unicode's equality takes the square of a
/// name that is one long character.
private struct NameBytes: Hashable {
    var name: String

    static func == (left: NameBytes, right: NameBytes) -> Bool { left.name.utf8.elementsEqual(right.name.utf8) }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
