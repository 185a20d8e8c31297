/// The members of a JSON object in their order, each name once.
///
/// Names are compared byte by byte: Unicode's equivalences never make one name stand for another.
public struct JSONObject: Equatable, Sendable {
    public private(set) var members: [(name: String, value: JSONValue)] = []

    public init() {}

    /// From pairs; of pairs with one name the last wins.
    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        for (name, value) in pairs { self[name] = value }
    }

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }
    public var names: [String] { members.map(\.name) }

    /// The member called `name`. Setting replaces in place or appends; setting nil removes.
    public subscript(name: String) -> JSONValue? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    private func index(of name: String) -> Int? {
        members.firstIndex { $0.name.utf8.count == name.utf8.count && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Appends a member that the parser knows to be new.
    mutating func appendUnique(_ name: String, _ value: JSONValue) { members.append((name, value)) }

    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
