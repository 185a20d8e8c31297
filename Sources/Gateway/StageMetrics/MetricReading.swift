/// Questions to the metrics' points, which are kept as long as CloudWatch keeps those of a minute.
public protocol MetricReading {
    /// Series that have had points since a minute, in their order.
    /// - Parameter stage: its id; nil for those of every stage and of none.
    func metricSeries(ofStage stage: String?, since minute: Int32) throws -> [MetricSeries]

    /// The points of each series in that span, oldest first.
    func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) throws -> [[MetricPoint]]
}

/// How much is kept.
public enum MetricRetention {
    public static let days: Int32 = 15
    public static let minutes: Int32 = days * 24 * 60
    /// Series, whoever was silent longest going first.
    public static let maximumSeries = 100_000
    /// Points of all series; about 40 bytes each. Beyond it the oldest go, a day at a time.
    public static let maximumPoints = 10_000_000
}

/// What is kept, and what the present minute has brought so far.
public struct MetricView: MetricReading {
    private let kept: any MetricReading
    private let open: [MetricSeries: MetricPoint]

    /// - Parameter open: of the minute that goes on, not kept yet.
    public init(_ kept: any MetricReading, open: [MetricSeries: MetricPoint]) { (self.kept, self.open) = (kept, open) }

    public func metricSeries(ofStage stage: String?, since minute: Int32) throws -> [MetricSeries] {
        let new = open.keys.filter { stage ?? $0.stageID == $0.stageID }
        return try Set(kept.metricSeries(ofStage: stage, since: minute)).union(new).sorted()
    }

    public func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) throws -> [[MetricPoint]] {
        zip(series, try kept.metricPoints(of: series, in: minutes)).map { series, points in
            guard let new = open[series], minutes.contains(new.minute) else { return points }
            var points = points
            if let index = points.lastIndex(where: { $0.minute == new.minute }) {
                points[index].merge(new, isCount: series.metric.isCount)
            } else {
                points.insert(new, at: points.firstIndex { $0.minute > new.minute } ?? points.endIndex)
            }
            return points
        }
    }
}
