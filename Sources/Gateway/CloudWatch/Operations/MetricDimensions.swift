import StageMetrics

/// Names and values of dimensions, as a request has them.
struct MetricDimensions: Equatable {
    /// Value by name; nil stands for any.
    private var values: [String: String?] = [:]

    /// Dimensions in one request, at most: CloudWatch's own bound of a metric.
    static let maximumCount = 30

    init(_ input: CloudWatchValue) throws(CloudWatchError) {
        for dimension in try input.list("Dimensions", atMost: Self.maximumCount) {
            let name = try dimension.requiredText("Name")
            guard values[name] == nil else { throw .invalid("The parameter Dimensions names \(name) twice.") }
            values[name] = try dimension.text("Value")
        }
    }

    /// Whether these are the series' dimensions, all of them and with these values.
    func areExactly(_ series: MetricSeries) -> Bool { series.dimensions.count == values.count && areAmong(series) }

    /// Whether the series has each of them.
    func areAmong(_ series: MetricSeries) -> Bool {
        let own = series.dimensions
        return values.allSatisfy { name, value in own.contains { $0.name == name && value ?? $0.value == $0.value } }
    }

    /// The stage that any series with these dimensions is of; nil when they leave it open.
    var stageID: String? { values["Stage"] ?? nil }

    /// The only series that has exactly these; nil when there can be none.
    func series(of metric: MetricSeries.Metric) -> MetricSeries? {
        func value(_ name: String) -> String { (values[name] ?? nil) ?? "" }
        let media = MetricSeries.Media(rawValue: value("MediaType"))
        let series = MetricSeries(
            metric, stage: value("Stage"), participant: value("Participant"), layer: value("SimulcastLayer"), media: media)
        return areExactly(series) ? series : nil
    }
}

extension MetricSeries {
    /// As `Metric` of the API has it.
    var described: CloudWatchValue {
        [
            "Namespace": .text(Self.namespace), "MetricName": .text(metric.rawValue),
            "Dimensions": .list(dimensions.map { ["Name": .text($0.name), "Value": .text($0.value)] }),
        ]
    }
}
