/// Names and values that tell the series of one metric apart. Values come from fixed sets: never an id, an address or a key.
public struct MetricLabels: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    public struct Label: Hashable, Sendable {
        public var name: String
        public var value: String
    }

    /// In the order of their names, which makes equal sets equal.
    public let labels: [Label]

    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }

    public init(_ pairs: [(String, String)]) {
        labels = pairs.map { Label(name: $0, value: $1) }.sorted { $0.name < $1.name }
        precondition(labels.allSatisfy { MetricName.isLabel($0.name) }, "label names are constants of ours")
    }

    var names: [String] { labels.map(\.name) }

    /// The same names with `other` for every value: where series land that a metric has no room for.
    var overflow: MetricLabels { MetricLabels(labels.map { ($0.name, "other") }) }
}

/// The names that Prometheus takes.
enum MetricName {
    static func isMetric(_ name: String) -> Bool { isName(name) { $0 == UInt8(ascii: ":") } }
    static func isLabel(_ name: String) -> Bool { isName(name) { _ in false } && !name.hasPrefix("__") && name != "le" }

    private static func isName(_ name: String, _ isExtra: (UInt8) -> Bool) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
            default: isExtra(byte)
            }
        }
    }
}
