import StageMetrics
import Wire

/// GetMetricData: curves of many series at once.
struct GetMetricData {
    /// As CloudWatch has them.
    static let maximumQueries = 500
    static let maximumPoints = 100_800
    static let maximumFound = 500
    /// Points of minutes that one request has read, at most: the store's thread has other things to do.
    static let maximumRead = 1_000_000
    /// Each series counts as so many of them, however short the time: it has to be found and asked for.
    static let leastRead = 20
    /// Series among which the searches of one request look, at most.
    static let maximumSearched = 1_000_000

    private let queries: [MetricDataQuery]
    private let spans: [MetricSpan]
    private let isAscending: Bool
    private let page: Int
    private let offset: Int

    /// One curve.
    private struct Curve {
        var id: String
        var label: String
        var points: [(start: WallTime, value: Double)] = []
        var message: String?
    }

    init(_ input: CloudWatchValue) throws(CloudWatchError) {
        let entries = try input.list("MetricDataQueries", atMost: Self.maximumQueries)
        guard !entries.isEmpty else { throw .missing("MetricDataQueries") }
        var (queries, spans): ([MetricDataQuery], [MetricSpan]) = ([], [])
        for entry in entries {
            let query = try MetricDataQuery(entry)
            guard !queries.contains(where: { $0.id == query.id }) else {
                throw .validation("The values for parameter Id in MetricDataQueries are not unique.")
            }
            queries.append(query)
            spans.append(try MetricSpan(input, period: query.period))
        }
        switch try input.text("ScanBy") {
        case nil, "TimestampDescending"?: isAscending = false
        case "TimestampAscending"?: isAscending = true
        default: throw .validation("The parameter ScanBy is TimestampAscending or TimestampDescending.")
        }
        page = try input.integer("MaxDatapoints") ?? Self.maximumPoints
        guard (1...Self.maximumPoints).contains(page) else {
            throw .validation("The parameter MaxDatapoints is a number from 1 to \(Self.maximumPoints).")
        }
        let token = try input.text("NextToken")
        guard let offset = token.map({ Int($0) }) ?? 0, (0...Self.maximumRead).contains(offset) else { throw .nextToken }
        (self.queries, self.spans, self.offset) = (queries, spans, offset)
    }

    func output(_ metrics: any MetricReading, now: WallTime) throws -> CloudWatchValue {
        var (curves, read, finder) = ([Curve](), 0, SeriesFinder(metrics, now: now))
        for (query, span) in zip(queries, spans) where query.isReturned {
            let (series, minutes) = (try finder.series(of: query.source), span.minutes(now: now))
            read += series.count * max(Self.leastRead, minutes.count)
            guard read <= Self.maximumRead else {
                throw CloudWatchError.validation(
                    "The request is about more than \(Self.maximumRead) minutes of all metrics together: ask for a shorter time.")
            }
            if series.isEmpty, case .metric = query.source { curves.append(Curve(id: query.id, label: query.label(of: nil))) }
            let points = try metrics.metricPoints(of: series, in: minutes)
            curves += zip(series, points).compactMap { curve(query, $0, span.points($1)) }
        }
        return paged(curves)
    }

    /// Nil for what a search found, and that has no points in this time.
    private func curve(_ query: MetricDataQuery, _ series: MetricSeries, _ points: [MetricPoint]) -> Curve? {
        var curve = Curve(id: query.id, label: query.label(of: series))
        guard let statistic = query.statistic else {
            curve.message = "\(query.statisticName) needs every sample; kept are count, sum, minimum and maximum of each minute."
            return curve
        }
        if case .search = query.source, points.isEmpty { return nil }
        curve.points = (isAscending ? points : points.reversed()).map { ($0.start, statistic.value(of: $0)) }
        return curve
    }

    /// The page of all curves' points that begins at `offset`; a curve without points stands on the first one.
    private func paged(_ curves: [Curve]) -> CloudWatchValue {
        var (results, position): ([CloudWatchValue], Int) = ([], 0)
        let end = offset + page
        for curve in curves {
            let range = position..<position + curve.points.count
            position = range.upperBound
            if range.isEmpty, offset == 0 { results.append(described(curve, [], isWhole: true)) }
            let taken = range.clamped(to: offset..<end)
            guard !taken.isEmpty else { continue }
            let points = curve.points[taken.lowerBound - range.lowerBound..<taken.upperBound - range.lowerBound]
            results.append(described(curve, points, isWhole: range.upperBound <= end))
        }
        let answer = [CloudWatchValue.Member("MetricDataResults", .list(results))]
        let next = position > end ? [CloudWatchValue.Member("NextToken", .text("\(end)"))] : []
        return .structure(answer + next + [.init("Messages", .list([]))])
    }

    private func described(
        _ curve: Curve, _ points: ArraySlice<(start: WallTime, value: Double)>, isWhole: Bool
    ) -> CloudWatchValue {
        let messages: [CloudWatchValue] = curve.message.map { [["Code": "Unsupported", "Value": .text($0)]] } ?? []
        return [
            "Id": .text(curve.id), "Label": .text(curve.label), "Timestamps": .list(points.map { .time($0.start) }),
            "Values": .list(points.map { .number($0.value) }), "StatusCode": isWhole ? "Complete" : "PartialData",
            "Messages": .list(messages),
        ]
    }
}

/// Finds what the queries of one request are about: what the store has of a stage, or of all stages, is read once.
private struct SeriesFinder {
    private let metrics: any MetricReading
    private let since: Int32
    /// By the stage; nil is all of them.
    private var known: [String?: [MetricSeries]] = [:]
    private var searched = 0

    init(_ metrics: any MetricReading, now: WallTime) {
        (self.metrics, since) = (metrics, MetricPoint.minute(of: now) - ListMetrics.listed)
    }

    mutating func series(of source: MetricDataQuery.Source) throws -> [MetricSeries] {
        switch source {
        case .metric(let series): return series.map { [$0] } ?? []
        case .search(let search):
            let all = try series(ofStage: search.stageID)
            searched += all.count
            guard searched <= GetMetricData.maximumSearched else {
                throw CloudWatchError.validation(
                    "The request's searches are among more than \(GetMetricData.maximumSearched) metrics: name a Stage in each.")
            }
            var found: [MetricSeries] = []
            for series in all where found.count < GetMetricData.maximumFound && search.finds(series) { found.append(series) }
            return found
        }
    }

    private mutating func series(ofStage stage: String?) throws -> [MetricSeries] {
        if let series = known[stage] { return series }
        let series = try metrics.metricSeries(ofStage: stage, since: since)
        known[stage] = series
        return series
    }
}
