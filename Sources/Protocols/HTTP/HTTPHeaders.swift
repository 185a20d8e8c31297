/// Header fields in their order; names match whatever their case (RFC 9110 §5.1).
public struct HTTPHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    public struct Field: Equatable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    public private(set) var fields: [Field] = []

    public init() {}
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0, value: $1) }
    }

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

    public func contains(_ name: String) -> Bool { self[name] != nil }

    /// Every value of the fields called `name`, in order.
    public func values(of name: String) -> [String] { fields.filter { Self.areEqual($0.name, name) }.map(\.value) }

    /// The elements of all comma-separated fields called `name` (RFC 9110 §5.6.1), trimmed, empty ones left out.
    public func list(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmingWhiteSpace() }.filter { !$0.isEmpty }.map(
            String.init)
    }

    /// Whether the comma-separated fields called `name` hold `token`, whatever its case.
    public func list(of name: String, contains token: String) -> Bool {
        list(of: name).contains { Self.areEqual($0, token) }
    }

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
    func trimmingWhiteSpace() -> SubSequence {
        guard let first = firstIndex(where: { $0 != " " && $0 != "\t" }),
            let last = lastIndex(where: { $0 != " " && $0 != "\t" })
        else { return self[endIndex...] }
        return self[first...last]
    }
}
