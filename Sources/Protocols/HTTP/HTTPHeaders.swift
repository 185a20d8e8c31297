/// Header fields in their order; names match whatever their case (RFC 9110 §5.1).
public struct HTTPHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Equatable, Sendable {
        /// As sent or as to be sent; compared whatever its case.
        public var name: String
        /// Without white space around.
        public var value: String

        /// From name and value.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// All fields, in the order of the wire.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

    /// Field lines, repeated names counted each.
    public var count: Int { fields.count }

    /// The first field called `name`. Setting replaces every field of that name by one; setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.areEqual($0.name, name) }?.value }
        set {
            guard let newValue else { return fields.removeAll { Self.areEqual($0.name, name) } }
            guard let index = fields.firstIndex(where: { Self.areEqual($0.name, name) }) else { return add(name, newValue) }
            fields[index].value = newValue
            for later in fields.indices.reversed() where later > index && Self.areEqual(fields[later].name, name) {
                fields.remove(at: later)
            }
        }
    }

    /// Whether there is a field called `name`.
    public func contains(_ name: String) -> Bool { self[name] != nil }

    /// Every value of the fields called `name`, in order.
    public func values(of name: String) -> [String] { fields.filter { Self.areEqual($0.name, name) }.map(\.value) }

    /// The elements of all comma-separated fields called `name` (RFC 9110 §5.6.1), trimmed, empty ones left out.
    public func list(of name: String) -> [String] {
        // By bytes: to Unicode a comma is one character with some letters before it, and a proxy's
        // comma follows what its client sent.
        let elements = values(of: name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map(Substring.init)
        return elements.map { $0.trimmingWhiteSpace() }.filter { !$0.isEmpty }.map(String.init)
    }

    /// Whether the comma-separated fields called `name` hold `token`, whatever its case.
    public func list(of name: String, contains token: String) -> Bool {
        list(of: name).contains { Self.areEqual($0, token) }
    }

    /// Appends a field, whether or not there is one of that name.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

    static func areEqual(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

extension UInt8 {
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends (OWS of RFC 9110 §5.6.3).
    ///
    /// By scalars: to compare a character takes the square of its length, and a stranger's may be as long as his field.
    func trimmingWhiteSpace() -> SubSequence {
        guard let first = unicodeScalars.firstIndex(where: { $0 != " " && $0 != "\t" }),
            let last = unicodeScalars.lastIndex(where: { $0 != " " && $0 != "\t" })
        else { return self[endIndex...] }
        return self[first..<unicodeScalars.index(after: last)]
    }
}

/// The character classes of RFC 9110 §5.6.2 and RFC 3986 §2.
extension UInt8 {
    /// `tchar`: what methods and field names are made of.
    var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// What a field value may hold: visible characters, space, tab and bytes beyond ASCII.
    var isFieldValueCharacter: Bool { self >= 0x20 && self != 0x7F || self == 0x09 }

    var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension StringProtocol {
    var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }
}
