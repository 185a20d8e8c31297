import EventLoop

/// Every metric of the process by name, and their text for Prometheus.
///
/// Asking twice for the same name and labels gives the same object, so that each module may ask for what it counts. Ask when a
/// thread or module starts, and keep what you get: the registry has a lock, counting has none. The number of series a metric may
/// have is bounded; beyond it values are counted under labels `other`.
///
///     let packets = registry.counter("stagedoor_packets_total", "Packets received.", ["kind": "video"])
///     packets.increment()
///     exchange.respond(HTTPResponse(.ok, body: registry.exposition()))
public final class MetricsRegistry: Sendable {
    /// Series of one metric. 1,000 sessions must not make 1,000 series.
    public static let maximumSeriesPerMetric = 200

    private enum Series: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
        case reading(@Sendable () -> Double)
    }

    private enum Kind: String { case counter, gauge, histogram }

    private struct Family: Sendable {
        let name: String
        let help: String
        let kind: Kind
        let labelNames: [String]
        var series: [MetricLabels: Series] = [:]
    }

    private let families = Lock<[String: Family]>([:])

    /// A registry of its own, as tests have; the program has one.
    public init() {}

    /// - Parameter name: ends in `_total`, with the unit before it: `stagedoor_received_bytes_total`.
    public func counter(_ name: String, _ help: String, _ labels: MetricLabels = [:]) -> Counter {
        precondition(name.hasSuffix("_total"), "counters end in _total: \(name)")
        let series = series(name, help, .counter, labels) { .counter(Counter()) }
        guard case .counter(let counter) = series else { preconditionFailure("\(name) is read from elsewhere") }
        return counter
    }

    /// A number that goes up and down.
    /// - Parameter name: without `_total`, with its unit at the end: `stagedoor_open_bytes`.
    public func gauge(_ name: String, _ help: String, _ labels: MetricLabels = [:]) -> Gauge {
        precondition(!name.hasSuffix("_total"), "only counters end in _total: \(name)")
        let series = series(name, help, .gauge, labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = series else { preconditionFailure("\(name) is read from elsewhere") }
        return gauge
    }

    /// Counts by ranges, of seconds as a rule.
    /// - Parameter bounds: ascending, 20 at most; see `Histogram`'s own sets of them.
    public func histogram(
        _ name: String, _ help: String, bounds: [Double] = Histogram.setupSeconds, _ labels: MetricLabels = [:]
    ) -> Histogram {
        let series = series(name, help, .histogram, labels) { .histogram(Histogram(bounds: bounds)) }
        guard case .histogram(let histogram) = series else { preconditionFailure("\(name) has one kind") }
        return histogram
    }

    /// A gauge, or with `_total` at the end of its name a counter, whose value is read whenever somebody asks.
    /// - Parameter read: is called on the asking thread; it must be quick.
    public func reading(
        _ name: String, _ help: String, _ labels: MetricLabels = [:], _ read: @escaping @Sendable () -> Double
    ) {
        _ = series(name, help, name.hasSuffix("_total") ? .counter : .gauge, labels) { .reading(read) }
    }

    /// Takes a series away: what it tells of is gone. Whoever still has its object counts for nobody.
    public func remove(_ name: String, _ labels: MetricLabels) {
        _ = families.withLock { $0[name]?.series.removeValue(forKey: labels) }
    }

    private func series(
        _ name: String, _ help: String, _ kind: Kind, _ labels: MetricLabels, make: () -> Series
    ) -> Series {
        precondition(MetricName.isMetric(name) && !help.isEmpty, "metric names are constants of ours: \(name)")
        return families.withLock { families in
            // Most ask for what is there: nothing is copied then.
            if let family = families[name], family.kind == kind, let series = family.series[labels] { return series }
            var family = families[name] ?? Family(name: name, help: help, kind: kind, labelNames: labels.names)
            precondition(family.kind == kind && family.labelNames == labels.names, "\(name) has one kind and one set of labels")
            let isFull = family.series[labels] == nil && family.series.count >= Self.maximumSeriesPerMetric
            let labels = isFull ? labels.overflow : labels
            let series = family.series[labels] ?? make()
            family.series[labels] = series
            families[name] = family
            return series
        }
    }

    /// All families in the order of their names.
    private var snapshot: [Family] { families.withLock { Array($0.values) }.sorted { $0.name < $1.name } }
}

extension MetricsRegistry {
    /// The media type of `exposition()`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text format of Prometheus, version 0.0.4: families and series in a fixed order.
    public func exposition() -> [UInt8] {
        var text = ""
        for family in snapshot {
            text +=
                "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            let series = family.series.sorted { Self.text(of: $0.key) < Self.text(of: $1.key) }
            for (labels, series) in series { Self.write(series, family.name, labels, into: &text) }
        }
        return Array(text.utf8)
    }

    private static func write(_ series: Series, _ name: String, _ labels: MetricLabels, into text: inout String) {
        switch series {
        case .counter(let counter): text += "\(name)\(Self.text(of: labels)) \(counter.value)\n"
        case .gauge(let gauge): text += "\(name)\(Self.text(of: labels)) \(number(gauge.value))\n"
        case .reading(let read): text += "\(name)\(Self.text(of: labels)) \(number(read()))\n"
        case .histogram(let histogram):
            let (counts, sum) = histogram.snapshot
            for (bound, count) in zip(histogram.bounds.map(number) + ["+Inf"], counts) {
                text += "\(name)_bucket\(Self.text(of: labels, bound: bound)) \(count)\n"
            }
            text += "\(name)_sum\(Self.text(of: labels)) \(number(sum))\n"
            text += "\(name)_count\(Self.text(of: labels)) \(counts.last ?? 0)\n"
        }
    }

    private static func text(of labels: MetricLabels, bound: String? = nil) -> String {
        var pairs = labels.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map { String($0) } ?? value.description
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

/// Names and values that tell the series of one metric apart. Values come from fixed sets: never an id, an address or a key.
public struct MetricLabels: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// One name with its value.
    public struct Label: Hashable, Sendable {
        /// Letters, digits and underscores; not `le`, which histograms use.
        public var name: String
        /// Any text; it is escaped where it is written.
        public var value: String
    }

    /// In the order of their names, which makes equal sets equal.
    public let labels: [Label]

    /// `["loop": "control"]`.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }

    /// Labels in any order.
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
