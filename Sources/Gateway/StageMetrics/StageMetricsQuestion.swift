public import JSON
public import Wire

/// `GET /v1/stages/{id}/metrics`: what is asked of one stage's series, and the answer.
public struct StageMetricsQuestion: Sendable {
    /// Minutes that are told when nothing is said.
    public static let usualMinutes: Int32 = 3 * 60
    /// Points of one answer, at most: as many as CloudWatch gives at once.
    public static let maximumPoints = 100_800

    public var stageID: String
    public var stageARN: String
    public var metricName: String?
    public var participantID: String?
    /// How far back, up to all that is kept.
    public var minutes = usualMinutes

    public init(stageID: String, stageARN: String) { (self.stageID, self.stageARN) = (stageID, stageARN) }

    /// Nil where it would be longer than `maximumPoints`.
    public func answer(from metrics: any MetricReading, now: WallTime) throws -> JSONValue? {
        let end = MetricPoint.minute(of: now) + 1
        let range = end - minutes - 1..<end
        let series = try metrics.metricSeries(ofStage: stageID, since: range.lowerBound).filter {
            metricName ?? $0.metric.rawValue == $0.metric.rawValue && participantID ?? $0.participantID == $0.participantID
        }
        guard series.count * (range.count - 1) <= Self.maximumPoints else { return nil }
        let points = try metrics.metricPoints(of: series, in: range)
        return [
            "namespace": .string(MetricSeries.namespace), "stageArn": .string(stageARN), "period": 60,
            "metrics": .array(zip(series, points).filter { !$0.1.isEmpty }.map(Self.json)),
        ]
    }

    private static func json(_ series: MetricSeries, _ points: [MetricPoint]) -> JSONValue {
        [
            "metricName": .string(series.metric.rawValue), "unit": .string(series.metric.unit),
            "dimensions": .array(series.dimensions.map { ["name": .string($0.name), "value": .string($0.value)] }),
            "datapoints": .array(
                points.map { point in
                    [
                        "timestamp": .string(CivilTime(point.start).rfc3339), "average": .number(point.average),
                        "minimum": .number(point.minimum), "maximum": .number(point.maximum),
                        "sampleCount": .integer(Int64(point.count)),
                    ]
                }),
        ]
    }
}
