import Foundation
import JSON
import Testing
import Wire

@testable import StageMetrics

@Suite("Points of metrics")
struct MetricPointTests {
    @Test(arguments: [
        // One after the other in a minute: a process was started anew.
        (true, (20, 20.0), (40, 80.0), (60, 100.0, 1.0, 2.0)),
        // Side by side: two nodes, or two processes while one takes the other's place.
        (true, (60, 60.0), (60, 120.0), (60, 180.0, 3.0, 3.0)), (true, (30, 30.0), (60, 120.0), (60, 150.0, 3.0, 3.0)),
        // Samples of one thing each.
        (false, (60, 60.0), (60, 120.0), (120, 180.0, 1.0, 2.0)),
    ])
    func `what two saw of a minute adds up`(
        isCount: Bool, a: (Int32, Double), b: (Int32, Double), sum: (Int32, Double, Double, Double)
    ) {
        func point(_ half: (Int32, Double)) -> MetricPoint {
            let average = half.1 / Double(half.0)
            return MetricPoint(minute: 7, count: half.0, sum: half.1, minimum: average, maximum: average)
        }
        for (first, second) in [(a, b), (b, a)] {
            var merged = point(first)
            merged.merge(point(second), isCount: isCount)
            #expect(merged == MetricPoint(minute: 7, count: sum.0, sum: sum.1, minimum: sum.2, maximum: sum.3))
        }
    }

    /// Two nodes whose publishers came in the same half of the minute; one of which died when the other's came; some of both; and
    /// a process that begins in the second in which the one before it ends.
    static let shares: [(Range<UInt64>, Range<UInt64>, (Int32, Double, Double, Double))] = [
        (30..<60, 30..<60, (30, 90, 3, 3)), (0..<30, 30..<60, (60, 90, 1, 2)), (0..<40, 20..<60, (60, 120, 1, 3)),
        (0..<60, 59..<60, (61, 62, 1, 2)),
    ]

    @Test(arguments: shares)
    func `counts add up in the seconds that two have in common`(
        a: Range<UInt64>, b: Range<UInt64>, sum: (Int32, Double, Double, Double)
    ) {
        func point(_ value: Double, _ seconds: Range<UInt64>) -> MetricPoint {
            seconds.dropFirst().reduce(into: MetricPoint(minute: 7, value, in: 1 << seconds.lowerBound)) {
                $0.add(value, in: 1 << $1)
            }
        }
        for (first, second) in [(point(1, a), point(2, b)), (point(2, b), point(1, a))] {
            var merged = first
            merged.merge(second, isCount: true)
            let seconds = first.seconds | second.seconds
            #expect(
                merged
                    == MetricPoint(minute: 7, count: sum.0, sum: sum.1, minimum: sum.2, maximum: sum.3, seconds: seconds))
        }
    }

    @Test func `a point is read with its seconds, and without them from a version that knew none`() throws {
        let point = MetricPoint(minute: 7, 2, in: 1 << 59)
        #expect(try JSONDecoder().decode(MetricPoint.self, from: JSONEncoder().encode(point)) == point)
        let former = #"{"minute":7,"count":1,"sum":2,"minimum":2,"maximum":2}"#
        #expect(try JSONDecoder().decode(MetricPoint.self, from: Data(former.utf8)) == MetricPoint(minute: 7, 2))
    }

    @Test(arguments: [true, false])
    func `what no two can have seen of a minute adds up to the greatest count`(isCount: Bool) {
        let told = MetricPoint(minute: 7, count: .max, sum: 1, minimum: 1, maximum: 1)
        var merged = told
        merged.merge(told, isCount: isCount)
        #expect(merged.count == .max && merged.sum == 2)
    }

    @Test func `minutes become points, and series are bounded`() {
        var collector = MetricCollector()
        let series = MetricSeries(.publishers, stage: "s")
        #expect(collector.turn(to: WallTime(secondsSince1970: 61)).isEmpty)
        for value in [3.0, 1.0] { collector.add(value, to: series) }
        #expect(collector.turn(to: WallTime(secondsSince1970: 119)).isEmpty)
        let point = MetricPoint(minute: 1, count: 2, sum: 4, minimum: 1, maximum: 3, seconds: 1 << 1)
        #expect(collector.turn(to: WallTime(secondsSince1970: 120)) == [MetricSample(series, point)])
        for index in 0..<MetricCollector.maximumSeries + 5 {
            collector.add(1, to: MetricSeries(.publishBitrate, stage: "s", participant: "\(index)"))
        }
        #expect(collector.open.count == MetricCollector.maximumSeries)
        #expect(collector.open.values.allSatisfy { $0.minute == 2 })
    }

    @Test(arguments: [
        ("DownloadPacketLoss", "Percent"), ("PublishBitrate", "Bits/Second"), ("PublishFramerate", "Count/Second"),
        ("PublishResolution", "Count"), ("Publishers", "Count"), ("SubscribeBitrate", "Bits/Second"), ("Subscribers", "Count"),
    ])
    func `IVS' metrics have its names and units`(name: String, unit: String) {
        #expect(MetricSeries.Metric(rawValue: name)?.unit == unit)
    }

    @Test(arguments: [
        MetricSeries(.publishers, stage: "abc"), MetricSeries(.concurrentPublishers),
        MetricSeries(.publishBitrate, stage: "abc", participant: "p", layer: "hi", media: .video),
        MetricSeries(.subscribeBitrate, stage: "abc", participant: "p", media: .audio),
    ])
    func `a series is one text, and read back`(series: MetricSeries) {
        #expect(MetricSeries(path: series.path) == series)
    }

    @Test(arguments: ["", "a/b", "s/NoMetric///", "s/Publishers////", "Publishers"])
    func `other texts are none`(path: String) { #expect(MetricSeries(path: path) == nil) }
}
