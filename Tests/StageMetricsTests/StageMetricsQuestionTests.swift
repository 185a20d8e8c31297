import JSON
import Testing
import Wire

@testable import StageMetrics

@Suite("One stage's metrics as JSON")
struct StageMetricsQuestionTests {
    /// Points that are given.
    struct Kept: MetricReading {
        var points: [MetricSeries: [MetricPoint]] = [:]

        func metricSeries(ofStage stage: String?, since minute: Int32) -> [MetricSeries] {
            points.filter { (stage ?? $0.key.stageID) == $0.key.stageID && ($0.value.last?.minute ?? 0) >= minute }.keys.sorted()
        }

        func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) -> [[MetricPoint]] {
            series.map { (points[$0] ?? []).filter { minutes.contains($0.minute) } }
        }
    }

    static let now = WallTime(secondsSince1970: 60_030)
    static let publishers = MetricSeries(.publishers, stage: "s")
    static let video = MetricSeries(.publishBitrate, stage: "s", participant: "p", layer: "hi", media: .video)

    private let view = MetricView(
        Kept(points: [
            Self.publishers: [MetricPoint(minute: 700, 9), MetricPoint(minute: 999, 1)],
            MetricSeries(.publishers, stage: "other"): [MetricPoint(minute: 999, 4)],
        ]), open: [Self.publishers: MetricPoint(minute: 1_000, 2), Self.video: MetricPoint(minute: 1_000, 5)])

    private func ask(_ change: (inout StageMetricsQuestion) -> Void = { _ in }) throws -> [String] {
        var question = StageMetricsQuestion(stageID: "s", stageARN: "arn")
        change(&question)
        let metrics = try #require(try question.answer(from: view, now: Self.now))["metrics"]?.array ?? []
        return metrics.map { metric in
            let points = metric["datapoints"]?.array ?? []
            return "\(metric["metricName"]?.string ?? "") \(points.map { $0["average"]?.double ?? 0 })"
        }
    }

    @Test func `has what is kept and what the minute brought so far, of three hours`() throws {
        #expect(try ask() == ["PublishBitrate [5.0]", "Publishers [1.0, 2.0]"])
        #expect(try ask { $0.minutes = 400 } == ["PublishBitrate [5.0]", "Publishers [9.0, 1.0, 2.0]"])
        #expect(try ask { $0.metricName = "Publishers" } == ["Publishers [1.0, 2.0]"])
        #expect(try ask { $0.participantID = "p" } == ["PublishBitrate [5.0]"])
    }

    @Test func `says whose each is, and of when`() throws {
        var question = StageMetricsQuestion(stageID: "s", stageARN: "arn")
        question.metricName = "PublishBitrate"
        #expect(
            try question.answer(from: view, now: Self.now) == [
                "namespace": "AWS/IVSRealTime", "stageArn": "arn", "period": 60,
                "metrics": [
                    [
                        "metricName": "PublishBitrate", "unit": "Bits/Second",
                        "dimensions": [
                            ["name": "Stage", "value": "s"], ["name": "Participant", "value": "p"],
                            ["name": "SimulcastLayer", "value": "hi"], ["name": "MediaType", "value": "video"],
                        ],
                        "datapoints": [
                            [
                                "timestamp": "1970-01-01T16:40:00.000Z", "average": 5.0, "minimum": 5.0, "maximum": 5.0,
                                "sampleCount": 1,
                            ]
                        ],
                    ]
                ],
            ])
    }

    @Test func `an answer that would be too long is none`() throws {
        let many = (0..<5).map {
            (MetricSeries(.publishBitrate, stage: "s", participant: "\($0)"), [MetricPoint(minute: 999, 1)])
        }
        var question = StageMetricsQuestion(stageID: "s", stageARN: "arn")
        question.minutes = MetricRetention.minutes
        let kept = Kept(points: Dictionary(uniqueKeysWithValues: many))
        #expect(try question.answer(from: kept, now: Self.now) == nil)
        question.participantID = "3"
        #expect(try question.answer(from: kept, now: Self.now) != nil)
    }
}
