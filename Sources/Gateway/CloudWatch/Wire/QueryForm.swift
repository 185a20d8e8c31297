import Wire

/// The body of AWS Query: a form whose names say where in the input a text belongs (`MetricDataQueries.member.1.Id`).
enum QueryForm {
    /// Pairs of a form, at most.
    static let maximumPairs = 10_000
    /// Parts of a name, at most.
    static let maximumDepth = 12

    /// The first text of that name, before the whole form is read.
    static func value(of name: String, in body: [UInt8]) -> String? {
        pairs(body).prefix(maximumPairs).lazy.compactMap(decode).first { $0.name == name }?.value
    }

    static func value(parsing body: [UInt8]) throws(CloudWatchError) -> CloudWatchValue {
        let pairs = pairs(body)
        guard pairs.count <= maximumPairs else { throw .malformed }
        var root = Node()
        for pair in pairs {
            guard let (name, value) = decode(pair) else { throw .malformed }
            let parts = name.split(separator: Character("."), omittingEmptySubsequences: false)
            guard parts.count <= maximumDepth else { throw .malformed }
            root.put(value, at: parts[...])
        }
        return root.value
    }

    /// By bytes: to compare a character takes the square of its length, and nobody has signed yet.
    private static func pairs(_ body: [UInt8]) -> [Substring] {
        let text = String(decoding: body, as: UTF8.self)
        return text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: maximumPairs).map(Substring.init)
    }

    /// Nil also where the name is not ASCII: none of CloudWatch's is another.
    private static func decode(_ pair: Substring) -> (name: String, value: String)? {
        let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
        guard let name = PercentEncoding.decode(pair[..<equals], plusIsSpace: true), name.utf8.allSatisfy({ $0 < 0x80 }),
            let value = PercentEncoding.decode(Substring(pair.utf8[equals...].dropFirst()), plusIsSpace: true)
        else { return nil }
        return (name, value)
    }

    /// A structure, a list or a text in the making.
    private struct Node {
        private var text = ""
        private var names: [String] = []
        private var children: [String: Node] = [:]

        mutating func put(_ value: String, at path: ArraySlice<Substring>) {
            guard let name = path.first.map(String.init) else { return text = value }
            if children[name] == nil { names.append(name) }
            children[name, default: Node()].put(value, at: path.dropFirst())
        }

        var value: CloudWatchValue {
            if names.isEmpty { return .text(text) }
            if names == ["member"], let elements = children["member"] { return .list(elements.elements) }
            return .structure(names.compactMap { name in children[name].map { CloudWatchValue.Member(name, $0.value) } })
        }

        /// Children by number, in that order.
        private var elements: [CloudWatchValue] {
            names.compactMap { name in Int(name).map { ($0, name) } }.sorted { $0.0 < $1.0 }
                .compactMap { children[$0.1]?.value }
        }
    }
}
