import StageMetrics
import Wire

/// GetMetricStatistics: one series, several statistics.
struct GetMetricStatistics {
    /// As CloudWatch has them.
    static let maximumPoints = 1_440
    static let maximumStatistics = 5
    static let maximumExtended = 10

    private let namespace: String
    private let name: String
    private let dimensions: MetricDimensions
    private let span: MetricSpan
    private let statistics: [Statistic]
    private let unit: String?

    init(_ input: CloudWatchValue) throws(CloudWatchError) {
        (namespace, name) = (try input.requiredText("Namespace"), try input.requiredText("MetricName"))
        dimensions = try MetricDimensions(input)
        guard let period = try input.integer("Period") else { throw .missing("Period") }
        span = try MetricSpan(input, period: period)
        let extended = try input.texts("ExtendedStatistics", atMost: Self.maximumExtended)
        for name in extended where !Statistic.isExtended(name) {
            throw .invalid("The value \(name) for parameter ExtendedStatistics is not supported.")
        }
        var statistics: [Statistic] = []
        for name in try input.texts("Statistics", atMost: Self.maximumStatistics) {
            guard let statistic = Statistic(rawValue: name) else {
                throw .invalid("The value \(name) for parameter Statistics is not supported.")
            }
            statistics.append(statistic)
        }
        guard !statistics.isEmpty || !extended.isEmpty else { throw .missing("Statistics") }
        (self.statistics, unit) = (statistics, try input.text("Unit"))
    }

    func output(_ metrics: any MetricReading, now: WallTime) throws -> CloudWatchValue {
        let minutes = span.minutes(now: now)
        let count = minutes.count / Int(span.period)
        guard count <= Self.maximumPoints else {
            throw CloudWatchError.combination(
                "You have requested up to \(count) datapoints, which exceeds the limit of \(Self.maximumPoints). You may reduce "
                    + "the datapoints requested by increasing Period, or decreasing the time range.")
        }
        guard namespace == MetricSeries.namespace, let metric = MetricSeries.Metric(rawValue: name), !statistics.isEmpty,
            let series = dimensions.series(of: metric), unit ?? metric.unit == metric.unit
        else { return ["Label": .text(name), "Datapoints": .list([])] }
        let points = span.points(try metrics.metricPoints(of: [series], in: minutes).first ?? [])
        return ["Label": .text(name), "Datapoints": .list(points.map { described($0, unit: metric.unit) })]
    }

    private func described(_ point: MetricPoint, unit: String) -> CloudWatchValue {
        let values = statistics.map { CloudWatchValue.Member($0.rawValue, .number($0.value(of: point))) }
        return .structure([.init("Timestamp", .time(point.start))] + values + [.init("Unit", .text(unit))])
    }
}
