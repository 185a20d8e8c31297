import StageMetrics

/// One entry of GetMetricData's `MetricDataQueries`.
struct MetricDataQuery {
    /// What it asks for.
    enum Source {
        /// One series; nil when no series can have these names.
        case metric(MetricSeries?)
        case search(MetricSearch)
    }

    let id: String
    let source: Source
    /// As it was sent, for labels.
    let statisticName: String
    /// Nil for one that needs every sample.
    let statistic: Statistic?
    let period: Int
    private let label: String?
    private let name: String
    let isReturned: Bool

    /// Of a label in bytes: it stands at every curve that a search finds.
    static let maximumLabelLength = 1_024

    init(_ input: CloudWatchValue) throws(CloudWatchError) {
        id = try input.requiredText("Id")
        guard id.wholeMatch(of: /[a-z][a-zA-Z0-9_]{0,254}/) != nil else {
            throw .validation("The value \(id) for parameter Id begins with a lower case letter, then has letters, digits and _.")
        }
        (label, isReturned) = (try input.text("Label"), try input.bool("ReturnData") ?? true)
        guard (label ?? "").utf8.count <= Self.maximumLabelLength else {
            throw .validation("The Label of the query \(id) has more than \(Self.maximumLabelLength) bytes.")
        }
        let period: Int?
        switch (input["MetricStat"], try input.text("Expression")) {
        case (let stat?, nil):
            (statisticName, period) = (try stat.requiredText("Stat"), try stat.integer("Period"))
            let metric = stat["Metric"] ?? [:]
            (name, source) = (try metric.requiredText("MetricName"), .metric(try Self.series(metric, try stat.text("Unit"))))
        case (nil, let expression?):
            let search = try MetricSearch(parsing: expression)
            (name, source, statisticName) = ("", .search(search), search.statistic)
            let own = try input.integer("Period")
            period = search.period ?? own
        default: throw .validation("The query \(id) needs either MetricStat or Expression.")
        }
        guard let period else { throw .validation("The query \(id) needs a Period.") }
        self.period = period
        statistic = Statistic(rawValue: statisticName)
        guard statistic != nil || Statistic.isExtended(statisticName) else {
            throw .validation("The value \(statisticName) for parameter Stat is not supported.")
        }
    }

    private static func series(_ metric: CloudWatchValue, _ unit: String?) throws(CloudWatchError) -> MetricSeries? {
        let (namespace, name) = (try metric.requiredText("Namespace"), try metric.requiredText("MetricName"))
        let dimensions = try MetricDimensions(metric)
        guard namespace == MetricSeries.namespace, let metric = MetricSeries.Metric(rawValue: name),
            unit ?? metric.unit == metric.unit
        else { return nil }
        return dimensions.series(of: metric)
    }

    /// What its curve is called: the metric's name, of one that was found its dimensions, or what the query says, in which
    /// `${PROP('Dim.Stage')}` and others stand for what they name.
    func label(of series: MetricSeries?) -> String {
        guard let label else {
            if case .search = source { return series?.dimensions.map(\.value).joined(separator: " ") ?? "" }
            return name
        }
        return label.replacing(/\$\{PROP\('([A-Za-z.]+)'\)\}/) { match in property(String(match.1), of: series) }
    }

    private func property(_ property: String, of series: MetricSeries?) -> String {
        switch property {
        case "MetricName": return series?.metric.rawValue ?? name
        case "Namespace": return MetricSeries.namespace
        case "Stat": return statisticName
        case "Period": return "\(period)"
        default:
            let dimension = series?.dimensions.first { "Dim.\($0.name)" == property }
            return dimension?.value ?? ""
        }
    }
}
