/// The members of an object or ECMA array, in the order of the wire. A name may come twice; the first one is found.
public struct AMF0Object: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: AMF0Value

        public init(name: String, value: AMF0Value) { (self.name, self.value) = (name, value) }
    }

    public var members: [Member]

    public init(_ members: [Member] = []) { self.members = members }

    public init(dictionaryLiteral elements: (String, AMF0Value)...) {
        members = elements.map { Member(name: $0.0, value: $0.1) }
    }

    public subscript(name: String) -> AMF0Value? { members.first { $0.name == name }?.value }

    /// The member's value whatever the case of its name: `tcUrl` is also seen as `tcurl`.
    public func value(ignoringCaseOf name: String) -> AMF0Value? {
        let wanted = name.lowercased()
        return members.first { $0.name.lowercased() == wanted }?.value
    }
}
