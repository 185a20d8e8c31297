import EventLoop

/// Every metric of the process by name, and their text for Prometheus.
///
/// Asking twice for the same name and labels gives the same object, so that each module may ask for what it counts. Ask when a
/// thread or module starts, and keep what you get: the registry has a lock, counting has none. The number of series a metric may
/// have is bounded; beyond it values are counted under labels `other`.
public final class MetricsRegistry: Sendable {
    /// Series of one metric. 1,000 sessions must not make 1,000 series.
    public static let maximumSeriesPerMetric = 200

    enum Series: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
        case reading(@Sendable () -> Double)
    }

    enum Kind: String { case counter, gauge, histogram }

    struct Family: Sendable {
        let name: String
        let help: String
        let kind: Kind
        let labelNames: [String]
        var series: [MetricLabels: Series] = [:]
    }

    private let families = Lock<[String: Family]>([:])

    public init() {}

    /// - Parameter name: ends in `_total`, with the unit before it: `stagedoor_received_bytes_total`.
    public func counter(_ name: String, _ help: String, _ labels: MetricLabels = [:]) -> Counter {
        precondition(name.hasSuffix("_total"), "counters end in _total: \(name)")
        let series = series(name, help, .counter, labels) { .counter(Counter()) }
        guard case .counter(let counter) = series else { preconditionFailure("\(name) is read from elsewhere") }
        return counter
    }

    public func gauge(_ name: String, _ help: String, _ labels: MetricLabels = [:]) -> Gauge {
        precondition(!name.hasSuffix("_total"), "only counters end in _total: \(name)")
        let series = series(name, help, .gauge, labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = series else { preconditionFailure("\(name) is read from elsewhere") }
        return gauge
    }

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
    var snapshot: [Family] { families.withLock { Array($0.values) }.sorted { $0.name < $1.name } }
}
