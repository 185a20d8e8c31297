import JSON
import Redis
import StageMetrics
import Store

/// The metrics of a cluster: what every node has seen, added up where it is read.
extension ClusterHistory {
    func metricSeries(ofStage stage: String?, since minute: Int32) throws -> [MetricSeries] {
        let questions = try (stage.map { [$0] } ?? metricStages(since: minute)).map { stage in
            range(schema.metricSeries(ofStage: stage), since: minute)
        }
        return try server.ask(questions).flatMap { $0.elements?.compactMap { $0.text.flatMap(MetricSeries.init(path:)) } ?? [] }
            .sorted()
    }

    private func metricStages(since minute: Int32) throws -> [String] {
        let found = try server.ask([range(schema.metricStages, since: minute)])[0].elements ?? []
        // A slash before each: what is of no stage is one of them, and has an empty name.
        return found.compactMap { $0.text.map { String($0.dropFirst()) } }
    }

    private func range(_ key: String, since minute: Int32) -> Question {
        .command(RedisCommand("ZRANGEBYSCORE", RedisArgument(key), RedisArgument(Int64(minute)), "+inf"), key: key)
    }

    func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) throws -> [[MetricPoint]] {
        var found: [MetricSeries: [Int32: MetricPoint]] = [:]
        let wanted = Set(series)
        for stage in Set(series.map(\.stageID)) {
            for sample in try samples(ofStage: stage, in: minutes)
            where wanted.contains(sample.series) && minutes.contains(sample.point.minute) {
                let isCount = sample.series.metric.isCount
                if found[sample.series]?[sample.point.minute]?.merge(sample.point, isCount: isCount) == nil {
                    found[sample.series, default: [:]][sample.point.minute] = sample.point
                }
            }
        }
        return series.map { (found[$0] ?? [:]).values.sorted { $0.minute < $1.minute } }
    }

    private func samples(ofStage stage: String, in minutes: Range<Int32>) throws -> [MetricSample] {
        let hour = MetricCodec.minutesOfHour
        let questions = (minutes.lowerBound / hour..<minutes.upperBound / hour + 1).map { hour in
            let key = schema.metrics(ofStage: stage, hour: hour)
            return Question.command(RedisCommand("HVALS", RedisArgument(key)), key: key)
        }
        return try server.ask(questions).flatMap { $0.elements ?? [] }.flatMap { $0.text.map(MetricCodec.decode) ?? [] }
    }
}

/// Samples as the JSON that Redis keeps: a list for each, the series first, and of a count its seconds last.
enum MetricCodec {
    static let minutesOfHour: Int32 = 60

    static func encode(_ samples: [MetricSample]) -> String {
        let lists = samples.map { sample -> JSONValue in
            let point = sample.point
            let list: [JSONValue] = [
                .string(sample.series.path), .integer(Int64(point.minute)), .integer(Int64(point.count)), .number(point.sum),
                .number(point.minimum), .number(point.maximum),
            ]
            // More bits than some readers' numbers have.
            return .array(point.seconds == 0 ? list : list + [.string(String(point.seconds, radix: 16))])
        }
        return JSONValue.array(lists).description
    }

    /// What cannot be read is left out: another version may have written it.
    static func decode(_ text: String) -> [MetricSample] {
        ((try? JSONValue(parsing: text))?.array ?? []).compactMap { list in
            guard let series = list[0]?.string.flatMap(MetricSeries.init(path:)), let minute = list[1]?.integer,
                let count = list[2]?.integer, let sum = list[3]?.double, let minimum = list[4]?.double,
                let maximum = list[5]?.double, let minute = Int32(exactly: minute), let count = Int32(exactly: count),
                count >= 0
            else { return nil }
            let seconds = list[6]?.string.flatMap { UInt64($0, radix: 16) } ?? 0
            return MetricSample(
                series,
                MetricPoint(minute: minute, count: count, sum: sum, minimum: minimum, maximum: maximum, seconds: seconds))
        }
    }
}
