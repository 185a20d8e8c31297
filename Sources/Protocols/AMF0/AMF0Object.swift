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
        members.first { Self.isEqual($0.name, name) }?.value
    }

    /// Letters of ASCII; what encoders say has no others.
    private static func isEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
