import Admission
import JSON
import StageHub
import StageMetrics
import Testing
import Wire

@testable import Monitoring

@Suite("Samples in the names of CloudWatch")
struct StageSamplingTests {
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

    @Test func `every metric has its dimensions, and the average of its seconds`() throws {
        let bench = try MonitoringBench()
        try stream(bench)
        let found = bench.sampler.collector.open.mapValues { [Double($0.count), $0.average, $0.minimum, $0.maximum] }
        func series(_ metric: MetricSeries.Metric, _ layer: String, _ media: MetricSeries.Media?) -> MetricSeries {
            MetricSeries(metric, stage: "abc", participant: "p1", layer: layer, media: media)
        }
        #expect(
            found == [
                MetricSeries(.publishBitrate, stage: "abc"): [3, 108_000, 108_000, 108_000],
                MetricSeries(.publishers, stage: "abc"): [4, 1, 1, 1], MetricSeries(.concurrentPublishers): [4, 1, 1, 1],
                series(.publishBitrate, "no-rid", .video): [3, 100_000, 100_000, 100_000],
                series(.publishFramerate, "no-rid", .video): [3, 5, 5, 5],
                series(.publishResolution, "no-rid", .video): [3, 720, 720, 720],
                series(.publishBitrate, "disabled", .audio): [3, 8_000, 8_000, 8_000],
                series(.publishFramerate, "", nil): [3, 5, 5, 5],
            ])
    }

    @Test func `WHIP publishers have a frame rate by layer alone`() throws {
        let bench = try MonitoringBench()
        try stream(bench, by: .whip)
        let found = bench.sampler.collector.open.keys.filter { $0.metric == .publishFramerate }.map(\.layer)
        #expect(found == ["no-rid"])
    }

    @Test func `a connection leaves no samples before its publish has started`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish(isStarted: false)
        for _ in 0..<3 { bench.second { publication.counters[.audio].count(byteCount: 1_000, endsFrame: true) } }
        #expect(bench.sampler.collector.open.isEmpty)
        publication.started()
        bench.second {}
        #expect(bench.sampler.collector.open[MetricSeries(.publishers, stage: "abc")]?.count == 1)
    }

    @Test func `a minute that is over is kept, and so is the last one when sampling ends`() throws {
        let bench = try MonitoringBench()
        try stream(bench)
        #expect(bench.kept.isEmpty)
        bench.pass(.seconds(60))
        bench.second {}
        let bitrate = MetricSeries(.publishBitrate, stage: "abc")
        #expect(bench.kept.filter { $0.series == bitrate }.map(\.point.sum) == [324_000])
        bench.sampler.stop()
        #expect(bench.kept.filter { $0.series == bitrate }.count == 2)
        #expect(bench.sampler.collector.open.isEmpty)
    }

    @Test func `viewers count once, their sessions together, and by name only who publishes`() {
        var collector = MetricCollector()
        _ = collector.turn(to: WallTime(secondsSince1970: 600))
        func viewer(_ id: String, _ video: Int, _ loss: Double?, stage: String = "abc") -> ViewerSample {
            ViewerSample(
                stageID: stage, participantID: id, videoBitsPerSecond: video, soundBitsPerSecond: 50, lossRatio: loss)
        }
        collector.add(
            [viewer("a", 100, 0), viewer("a", 200, 0.5), viewer("b", 400, nil), viewer("c", 0, nil, stage: "other")],
            publishing: [ParticipantKey("a", onStage: "abc"), ParticipantKey("b", onStage: "other")])
        let found = collector.open.mapValues { [Double($0.count), $0.sum] }
        func ofA(_ metric: MetricSeries.Metric, _ media: MetricSeries.Media? = nil) -> MetricSeries {
            MetricSeries(metric, stage: "abc", participant: "a", media: media)
        }
        #expect(
            found == [
                MetricSeries(.concurrentSubscriptions): [1, 4], MetricSeries(.subscribers, stage: "abc"): [1, 2],
                MetricSeries(.subscribers, stage: "other"): [1, 1], MetricSeries(.subscribeBitrate, stage: "abc"): [2, 850],
                MetricSeries(.subscribeBitrate, stage: "other"): [1, 50],
                MetricSeries(.downloadPacketLoss, stage: "abc"): [2, 50],
                ofA(.subscribeBitrate, .video): [1, 300], ofA(.subscribeBitrate, .audio): [1, 100],
                ofA(.downloadPacketLoss): [2, 50],
            ])
    }
}
