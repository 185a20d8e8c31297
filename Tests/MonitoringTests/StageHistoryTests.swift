import Admission
import JSON
import Refusals
import StageHub
import Testing
import Wire

@testable import Monitoring

@Suite("Metrics of stages in the names of CloudWatch")
struct StageHistoryTests {
    private func metrics(_ bench: MonitoringBench, _ filter: StageHistory.Filter = StageHistory.Filter()) -> [JSONValue] {
        bench.sampler.history.json(ofStage: "abc", stageARN: "arn", filter)["metrics"]?.array ?? []
    }

    private func dimensions(_ metric: JSONValue) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: (metric["dimensions"]?.array ?? []).map {
                ($0["name"]?.string ?? "", $0["value"]?.string ?? "")
            })
    }

    /// One RTMP publisher for three seconds: 100 kbit/s of video at 5 frames a second, 8 kbit/s of audio.
    private func stream(_ bench: MonitoringBench, by ingest: IngestProtocol = .rtmp) throws {
        let publication = try bench.publish(by: ingest)
        publication.setPictureSize(width: 1280, height: 720, of: .video, at: bench.now)
        bench.sampler.look(at: bench.now)
        for _ in 0..<3 {
            bench.second {
                for _ in 0..<5 { publication.counters[.video].count(byteCount: 2_500, endsFrame: true) }
                publication.counters[.audio].count(byteCount: 1_000, endsFrame: true)
            }
        }
    }

    @Test func `every metric has its name, unit and dimensions`() throws {
        let bench = try MonitoringBench()
        try stream(bench)
        let found = metrics(bench).map { metric in
            let names = dimensions(metric)
            let rest = ["Participant", "SimulcastLayer", "MediaType"].compactMap { names[$0] }
            #expect(names["Stage"] == "abc")
            return "\(metric["metricName"]?.string ?? "") \(metric["unit"]?.string ?? "") \(rest.joined(separator: "/"))"
        }
        #expect(
            found == [
                "PublishBitrate Bits/Second ", "Publishers Count ", "PublishBitrate Bits/Second p1/no-rid/video",
                "PublishResolution Count p1/no-rid/video", "PublishFramerate Count/Second p1/no-rid/video",
                "PublishBitrate Bits/Second p1/disabled/audio", "PublishFramerate Count/Second p1",
            ])
    }

    @Test func `values are averages, minima and maxima of the seconds of a minute`() throws {
        let bench = try MonitoringBench()
        try stream(bench)
        var filter = StageHistory.Filter()
        filter.metricName = "PublishBitrate"
        let points = metrics(bench, filter).compactMap { $0["datapoints"]?[0] }
        #expect(points.map { $0["average"]?.double } == [108_000, 100_000, 8_000])
        #expect(points.allSatisfy { $0["sampleCount"] == 3 && $0["minimum"] == $0["maximum"] })
        #expect(points.first?["timestamp"]?.string?.hasSuffix(":00.000Z") == true)
        filter.metricName = "PublishResolution"
        #expect(metrics(bench, filter).first?["datapoints"]?[0]?["average"]?.double == 720)
    }

    @Test func `WHIP publishers have a frame rate by layer alone`() throws {
        let bench = try MonitoringBench()
        try stream(bench, by: .whip)
        let found = metrics(bench).filter { $0["metricName"] == "PublishFramerate" }.map { dimensions($0)["SimulcastLayer"] }
        #expect(found == ["no-rid"])
    }

    @Test func `minutes become datapoints, and only the last three hours of them are kept`() {
        var series = MinuteSeries()
        for minute in 0..<(MinuteSeries.maximumMinutes + 10) {
            series.add(Double(minute), at: WallTime(secondsSince1970: Int64(minute * 60 + 30)))
        }
        #expect(series.datapoints.count == MinuteSeries.maximumMinutes)
        #expect(series.datapoints.first?.start == WallTime(secondsSince1970: 600))
        series.add(5, at: WallTime(secondsSince1970: 0))  // the clock was set back
        #expect(series.datapoints.last?.sampleCount == 2)
    }

    @Test func `participants and stages are bounded, the longest silent goes first`() throws {
        let bench = try MonitoringBench()
        for index in 0..<(StageHistory.maximumParticipants + 1) {
            let publication = try bench.publish("p\(index)", stage: "st\(index)")
            bench.sampler.look(at: bench.now)
            bench.second { publication.counters[.audio].count(byteCount: 1, endsFrame: true) }
            publication.end(.closed)
            if index == 0 { bench.pass(.seconds(60)) }
        }
        let history = bench.sampler.history
        #expect(history.participants(ofStage: "st0").isEmpty)
        #expect(history.participants(ofStage: "st\(StageHistory.maximumParticipants)").count == 1)
        #expect(history.stages.count == StageHistory.maximumStages)
    }
}
