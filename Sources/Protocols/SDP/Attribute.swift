/// One `a=` line (RFC 8866 §5.13): a property attribute has no value.
public struct Attribute: Equatable, Sendable {
    /// What stands before the first colon.
    public var name: String
    /// What stands behind it, as written.
    public var value: String?

    /// From name and value, which hold no line break.
    public init(_ name: String, _ value: String? = nil) { (self.name, self.value) = (name, value) }

    /// The line that carries `attribute`.
    public init(_ attribute: some TypedAttribute) {
        self.init(type(of: attribute).attributeName, attribute.attributeValue)
    }
}

extension Attribute {
    /// From an `a=` line.
    init(line: SDPLines.Line) throws(SDPError) {
        let bytes = line.value.utf8
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        let name = bytes[..<(colon ?? bytes.endIndex)]
        guard !name.isEmpty, name.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformedLine(line: line.number) }
        self.init(String(Substring(name)), colon.map { String(Substring(bytes[bytes.index(after: $0)...])) })
    }

    /// The line, without its end.
    var line: String { value.map { "a=\(name):\($0)" } ?? "a=\(name)" }
}

/// An attribute whose value has a grammar of its own.
public protocol TypedAttribute: Sendable {
    /// Before the colon.
    static var attributeName: String { get }
    /// nil when the value does not follow the grammar.
    init?(attributeValue: Substring)
    /// What stands behind the colon.
    var attributeValue: String { get }
}

extension [Attribute] {
    /// Whether there is an attribute called `name`, with a value or without.
    public func contains(_ name: String) -> Bool { contains { $0.name == name } }

    /// The value of the first attribute called `name`; nil where there is none or it has no value.
    public func value(of name: String) -> String? { first { $0.name == name }?.value }

    /// Every attribute of one type, in order; those that do not follow their grammar are left out.
    public func all<Typed: TypedAttribute>(_ type: Typed.Type) -> [Typed] {
        var found: [Typed] = []
        for attribute in self where attribute.name == type.attributeName {
            if let typed = Typed(attributeValue: Substring(attribute.value ?? "")) { found.append(typed) }
        }
        return found
    }

    /// The first attribute of one type that follows its grammar.
    public func first<Typed: TypedAttribute>(_ type: Typed.Type) -> Typed? {
        for attribute in self where attribute.name == type.attributeName {
            if let typed = Typed(attributeValue: Substring(attribute.value ?? "")) { return typed }
        }
        return nil
    }

    /// Every attribute of one type, in order.
    /// - Throws: `.malformedAttribute` for the first one that does not follow its grammar.
    public func strictly<Typed: TypedAttribute>(_ type: Typed.Type) throws(SDPError) -> [Typed] {
        var found: [Typed] = []
        for attribute in self where attribute.name == type.attributeName {
            guard let typed = Typed(attributeValue: Substring(attribute.value ?? "")) else {
                throw .malformedAttribute(type.attributeName)
            }
            found.append(typed)
        }
        return found
    }

    /// Appends an attribute.
    public mutating func append(_ name: String, _ value: String? = nil) { append(Attribute(name, value)) }
    /// Appends the line that carries `attribute`.
    public mutating func append(_ attribute: some TypedAttribute) { append(Attribute(attribute)) }
}

/// The words of an attribute value, separated by one or more spaces.
func words(_ text: Substring, maximum: Int = .max) -> [Substring] {
    text.utf8.split(separator: UInt8(ascii: " "), maxSplits: maximum - 1, omittingEmptySubsequences: true).map(Substring.init)
}

/// The parts of a value between `mark`s, which are ASCII: bytes are looked at, since characters cost twenty times as much.
func split(_ text: Substring, at mark: Unicode.Scalar, maximum: Int = .max) -> [Substring] {
    text.utf8.split(separator: UInt8(ascii: mark), maxSplits: maximum - 1, omittingEmptySubsequences: false).map(Substring.init)
}
