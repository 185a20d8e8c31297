import Wire

/// The pairs of a query, decoded, in their order; `+` stands for a space and a malformed pair is left out.
public struct QueryItems: Equatable, Sendable {
    public struct Item: Equatable, Sendable {
        public var name: String
        public var value: String
    }

    /// More pairs than any of our addresses takes.
    static let maximumCount = 100

    public private(set) var items: [Item] = []

    public init(_ query: some StringProtocol) {
        for pair in query.split(separator: "&").prefix(Self.maximumCount) {
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            let value = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
            guard let name = PercentEncoding.decode(pair[..<equals], plusIsSpace: true),
                let value = PercentEncoding.decode(value, plusIsSpace: true)
            else { continue }
            items.append(Item(name: name, value: value))
        }
    }

    /// The value of the first pair called `name`.
    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }
}
