import StageMetrics
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The metrics' points in the history's file")
struct MetricDatabaseTests {
    private let directory: TemporaryDirectory
    private static let publishers = MetricSeries(.publishers, stage: "one")
    private static let bitrate = MetricSeries(.publishBitrate, stage: "one", participant: "p", layer: "hi", media: .video)

    init() throws { directory = try TemporaryDirectory() }

    private func keep(_ samples: [MetricSample]) throws {
        let history = try HistoryDatabase(directory: directory.path)
        _ = try history.append(MetricSample.writes(samples))
        history.close()
    }

    private func found(ofStage stage: String? = "one", since: Int32 = 0, in minutes: Range<Int32> = 0..<2_000_000_000) throws
        -> [MetricSeries: [MetricPoint]]
    {
        let history = try HistoryDatabase(directory: directory.path)
        defer { history.close() }
        var found: [MetricSeries: [MetricPoint]] = [:]
        var fault: (any Error)?
        try history.read { reader in
            do {
                let series = try reader.metricSeries(ofStage: stage, since: since)
                for (series, points) in zip(series, try reader.metricPoints(of: series, in: minutes)) { found[series] = points }
            } catch { fault = error }
        }
        if let fault { throw fault }
        return found
    }

    @Test func `points are there after a restart, and what comes for the same minute is added`() throws {
        let first = MetricPoint(minute: 5, count: 20, sum: 20, minimum: 1, maximum: 1)
        try keep([MetricSample(Self.publishers, first), MetricSample(Self.bitrate, MetricPoint(minute: 5, 1_000))])
        try keep([
            MetricSample(Self.publishers, MetricPoint(minute: 5, count: 30, sum: 60, minimum: 2, maximum: 2)),
            MetricSample(Self.publishers, MetricPoint(minute: 6, 2)),
        ])
        let found = try found()
        #expect(
            found[Self.publishers] == [
                MetricPoint(minute: 5, count: 50, sum: 80, minimum: 1, maximum: 2), MetricPoint(minute: 6, 2),
            ])
        #expect(found[Self.bitrate] == [MetricPoint(minute: 5, 1_000)])
        #expect(try self.found(in: 6..<7) == [Self.publishers: [MetricPoint(minute: 6, 2)], Self.bitrate: []])
    }

    @Test func `series are found by stage and by when they had points last`() throws {
        let none = MetricSeries(.concurrentPublishers)
        let other = MetricSeries(.publishers, stage: "two")
        try keep([
            MetricSample(Self.publishers, MetricPoint(minute: 5, 1)), MetricSample(none, MetricPoint(minute: 7, 1)),
            MetricSample(other, MetricPoint(minute: 9, 1)),
        ])
        #expect(try Set(found(ofStage: nil).keys) == [Self.publishers, none, other])
        #expect(try Set(found(ofStage: nil, since: 6).keys) == [none, other])
        #expect(try Set(found(ofStage: "two").keys) == [other])
        #expect(try Set(found(ofStage: "").keys) == [none])
    }

    @Test func `what is too old or too much is forgotten, with series that have nothing left`() throws {
        let day: Int32 = 24 * 60
        let samples = (0..<20).map { MetricSample(Self.publishers, MetricPoint(minute: $0 * day, Double($0))) }
        try keep(samples + [MetricSample(Self.bitrate, MetricPoint(minute: 3, 1))])
        let history = try HistoryDatabase(directory: directory.path)
        try history.removeMetrics(before: 5 * day)
        history.close()
        #expect(try found().mapValues { $0.map(\.minute) } == [Self.publishers: (5..<20).map { $0 * day }])
        let again = try HistoryDatabase(directory: directory.path)
        try again.removeMetrics(before: 5 * day, maximumPoints: 4)
        again.close()
        #expect(try found()[Self.publishers]?.map(\.minute) == (16..<20).map { $0 * day })
    }

    @Test func `a write has no more samples than a message takes, all of one stage`() throws {
        let samples = (0..<150).map {
            MetricSample(MetricSeries(.publishBitrate, stage: "\($0 % 2)", participant: "\($0)"), MetricPoint(minute: 1, 1))
        }
        var counts: [Int] = []
        for case .metrics(let samples) in MetricSample.writes(samples) {
            #expect(Set(samples.map(\.series.stageID)).count == 1)
            counts.append(samples.count)
        }
        #expect(counts == [64, 11, 64, 11])
    }
}
