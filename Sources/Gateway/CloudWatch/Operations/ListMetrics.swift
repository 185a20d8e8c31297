import StageMetrics
import Wire

/// ListMetrics: the series that had points lately.
struct ListMetrics {
    /// Series of one answer, at most, as CloudWatch has them.
    static let page = 500
    /// A series without points for so long is listed no more.
    static let listed: Int32 = 14 * 24 * 60
    static let recentlyActive: Int32 = 3 * 60

    private let namespace: String
    private let metric: String?
    private let dimensions: MetricDimensions
    private let age: Int32
    /// The last series of the page before.
    private let after: MetricSeries?

    init(_ input: CloudWatchValue) throws(CloudWatchError) {
        namespace = try input.text("Namespace") ?? MetricSeries.namespace
        metric = try input.text("MetricName")
        dimensions = try MetricDimensions(input)
        switch try input.text("RecentlyActive") {
        case nil: age = Self.listed
        case "PT3H"?: age = Self.recentlyActive
        default: throw .invalid("The parameter RecentlyActive is PT3H or absent.")
        }
        let token = try input.text("NextToken")
        after = token.flatMap(MetricSeries.init(path:))
        if token != nil, after == nil { throw .nextToken }
    }

    func output(_ metrics: any MetricReading, now: WallTime) throws -> CloudWatchValue {
        guard namespace == MetricSeries.namespace else { return ["Metrics": .list([])] }
        let all = try metrics.metricSeries(ofStage: dimensions.stageID, since: MetricPoint.minute(of: now) - age)
        let found = all.filter { series in
            if let after, series <= after { return false }
            return metric ?? series.metric.rawValue == series.metric.rawValue && dimensions.areAmong(series)
        }
        let page = found.prefix(Self.page)
        let list = CloudWatchValue.list(page.map(\.described))
        guard found.count > page.count, let last = page.last else { return ["Metrics": list] }
        return ["Metrics": list, "NextToken": .text(last.path)]
    }
}
