import JSON
import StageMetrics
import Testing
import Wire

@testable import CloudWatch

@Suite("CloudWatch's operations")
struct CloudWatchOperationsTests {
    private let bench = CloudWatchBench()

    private static func metric(_ name: String = "Publishers", _ dimensions: [(String, String)] = [("Stage", "abc")]) -> JSONValue
    {
        [
            "Namespace": "AWS/IVSRealTime", "MetricName": .string(name),
            "Dimensions": .array(dimensions.map { ["Name": .string($0.0), "Value": .string($0.1)] }),
        ]
    }

    private static func stat(_ metric: JSONValue, _ stat: String = "Average", period: Int64 = 60, id: String = "m") -> JSONValue {
        ["Id": .string(id), "MetricStat": ["Metric": metric, "Period": .integer(period), "Stat": .string(stat)]]
    }

    private func data(_ queries: [JSONValue], _ more: JSONObject = [:], from: Int64 = 59_400, to: Int64 = 60_060) throws
        -> JSONValue
    {
        var input: JSONObject = ["MetricDataQueries": .array(queries), "StartTime": .integer(from), "EndTime": .integer(to)]
        for member in more.members { input[member.name] = member.value }
        return try bench.json("GetMetricData", .object(input))
    }

    private static func values(_ answer: JSONValue) -> [[Double]] {
        (answer["MetricDataResults"]?.array ?? []).map { $0["Values"]?.array?.compactMap(\.double) ?? [] }
    }

    // MARK: - ListMetrics

    private static func names(_ answer: JSONValue) -> [String] {
        (answer["Metrics"]?.array ?? []).map { metric in
            let values = metric["Dimensions"]?.array?.compactMap { $0["Value"]?.string } ?? []
            return ([metric["MetricName"]?.string ?? ""] + values).joined(separator: " ")
        }
    }

    @Test(arguments: [
        ("{}", ["PublishBitrate abc p1 disabled audio", "PublishBitrate abc p1 hi video", "Publishers abc", "Publishers other"]),
        (#"{"Namespace": "AWS/IVSRealTime", "MetricName": "Publishers"}"#, ["Publishers abc", "Publishers other"]),
        (#"{"Dimensions": [{"Name": "Stage", "Value": "abc"}], "MetricName": "Publishers"}"#, ["Publishers abc"]),
        (
            #"{"Dimensions": [{"Name": "MediaType"}]}"#,
            ["PublishBitrate abc p1 disabled audio", "PublishBitrate abc p1 hi video"]
        ),
        (#"{"RecentlyActive": "PT3H", "MetricName": "Publishers"}"#, ["Publishers abc"]),
        (#"{"Namespace": "AWS/Billing", "MetricName": "EstimatedCharges"}"#, []),
    ])
    func `lists what has had points, by any part of its name`(input: String, names: [String]) throws {
        #expect(Self.names(try bench.json("ListMetrics", try JSONValue(parsing: input))) == names)
    }

    @Test func `long lists come in pages`() throws {
        let open = (0..<1_200).map {
            (MetricSeries(.publishBitrate, stage: "s", participant: "\($0)"), MetricPoint(minute: 1_000, 1))
        }
        let view = MetricView(CloudWatchBench(), open: Dictionary(uniqueKeysWithValues: open))
        var (found, token, pages): (Set<String>, String?, Int) = ([], nil, 0)
        repeat {
            let input: CloudWatchValue = token.map { ["NextToken": .text($0)] } ?? [:]
            let output = try ListMetrics(input).output(view, now: CloudWatchBench.now).json
            found.formUnion(Self.names(output))
            (token, pages) = (output["NextToken"]?.string, pages + 1)
        } while token != nil
        #expect(found.count == 1_204 && pages == 3)
        #expect(throws: CloudWatchError.nextToken) { try ListMetrics(["NextToken": "x"]) }
    }

    // MARK: - GetMetricData

    @Test func `newest first unless it says otherwise, from the start to before the end`() throws {
        #expect(Self.values(try data([Self.stat(Self.metric())], from: 59_760, to: 59_940)) == [[8, 7, 6]])
        let ascending: JSONObject = ["ScanBy": "TimestampAscending"]
        #expect(Self.values(try data([Self.stat(Self.metric())], ascending, from: 59_760, to: 59_940)) == [[6, 7, 8]])
    }

    @Test(arguments: [
        ("Average", [10, 7.0, 2.5]), ("Sum", [10, 35.0, 10.0]), ("Minimum", [10, 5.0, 1.0]), ("Maximum", [10, 9.0, 4.0]),
        ("SampleCount", [1, 5.0, 4.0]),
    ])
    func `longer periods have all minutes of theirs`(statistic: String, values: [Double]) throws {
        let answer = try data([Self.stat(Self.metric(), statistic, period: 300)])
        #expect(Self.values(answer) == [values])
        let times = answer["MetricDataResults"]?[0]?["Timestamps"]?.array?.compactMap(\.double)
        #expect(times == [60_000, 59_700, 59_400])
    }

    @Test func `counts that do not fit together are the greatest`() throws {
        let span = try MetricSpan(start: WallTime(secondsSince1970: 0), end: WallTime(secondsSince1970: 600), period: 300)
        let points = span.points((1...3).map { MetricPoint(minute: $0, count: .max, sum: 1, minimum: 1, maximum: 1) })
        #expect(points == [MetricPoint(minute: 0, count: .max, sum: 3, minimum: 1, maximum: 1)])
    }

    @Test func `what there is not is an empty curve`() throws {
        let others = [
            Self.metric("Publishers", []), Self.metric("Publishers", [("Stage", "none")]), Self.metric("Nothing"),
            Self.metric("PublishBitrate", [("Stage", "abc"), ("Participant", "p1")]),
            Self.metric("Publishers", [("Stage", "abc"), ("Platform", "x")]),
        ]
        let queries = others.enumerated().map { Self.stat($1, id: "m\($0)") }
        let answer = try data(queries)
        #expect(Self.values(answer) == others.map { _ in [] })
        #expect(answer["MetricDataResults"]?.array?.allSatisfy { $0["StatusCode"] == "Complete" } == true)
    }

    @Test func `many points come in pages`() throws {
        let queries = [
            Self.stat(Self.metric(), id: "a"),
            Self.stat(
                Self.metric(
                    "PublishBitrate",
                    [("Stage", "abc"), ("Participant", "p1"), ("SimulcastLayer", "hi"), ("MediaType", "video")]), id: "b"),
        ]
        var (pages, token): ([[String]], String?) = ([], nil)
        repeat {
            var more: JSONObject = ["MaxDatapoints": 8]
            if let token { more["NextToken"] = .string(token) }
            let answer = try data(queries, more)
            let results = answer["MetricDataResults"]?.array ?? []
            pages.append(
                results.map { "\($0["Id"]?.string ?? "") \($0["Values"]?.array?.count ?? 0) \($0["StatusCode"]?.string ?? "")" })
            token = answer["NextToken"]?.string
        } while token != nil && pages.count < 9
        #expect(pages == [["a 8 PartialData"], ["a 2 Complete", "b 6 PartialData"], ["b 4 Complete"]])
    }

    /// It takes no place of a page, also where others have filled that before it.
    @Test(arguments: [4, 10, 100] as [Int64])
    func `a curve without points stands whole on the first page`(page: Int64) throws {
        let queries = [
            Self.stat(Self.metric(), id: "a"), Self.stat(Self.metric("Nothing"), id: "b"),
            Self.stat(Self.metric(), "p99", id: "c"),
        ]
        let answer = try data(queries, ["MaxDatapoints": .integer(page)])
        let results = answer["MetricDataResults"]?.array ?? []
        #expect(results.compactMap { $0["Id"]?.string } == ["a", "b", "c"])
        #expect(Self.values(answer).map(\.count) == [min(10, Int(page)), 0, 0])
        #expect(results.dropFirst().allSatisfy { $0["StatusCode"] == "Complete" })
        #expect((answer["NextToken"] != nil) == (page < 10))
        guard let token = answer["NextToken"] else { return }
        let next = try data(queries, ["MaxDatapoints": .integer(page), "NextToken": token])
        #expect(next["MetricDataResults"]?.array?.compactMap { $0["Id"]?.string } == ["a"])
    }

    @Test(arguments: ["x", "-1", "9223372036854775807", "99999999999999999999"])
    func `a token that no answer gave is none`(token: String) throws {
        let answer = try data([Self.stat(Self.metric())], ["NextToken": .string(token)])
        #expect(answer["__type"] == "com.amazonaws.cloudwatch#InvalidNextToken")
    }

    @Test func `statistics that need every sample are told to be none`() throws {
        let answer = try data([Self.stat(Self.metric(), "p99")])
        #expect(answer["MetricDataResults"]?[0]?["Messages"]?[0]?["Code"] == "Unsupported")
    }

    @Test(arguments: [
        #"[]"#, #"[{"Id": "M"}]"#, #"[{"Id": "m"}]"#, #"[{"Id": "m", "Expression": "m1 / 2", "Period": 60}]"#,
        #"[{"Id": "m", "Expression": "SELECT AVG(Publishers) FROM SCHEMA(\"AWS/IVSRealTime\", Stage)", "Period": 60}]"#,
        #"[{"Id": "m", "MetricStat": {"Metric": {"Namespace": "n", "MetricName": "m"}, "Period": 61, "Stat": "Average"}}]"#,
        #"[{"Id": "m", "MetricStat": {"Metric": {"Namespace": "n", "MetricName": "m"}, "Period": 60, "Stat": "Mean"}}]"#,
        #"[{"Id": "m", "MetricStat": {"Metric": {"Namespace": "n", "MetricName": "m"}, "Stat": "Average"}}]"#,
        #"[{"Id": 5}]"#, #""x""#,
    ])
    func `what is wrong with a query is said`(queries: String) throws {
        let answer = try bench.json(
            "GetMetricData", ["MetricDataQueries": try JSONValue(parsing: queries), "StartTime": 59_400, "EndTime": 60_000])
        #expect(answer["__type"] != nil && answer["message"]?.string?.isEmpty == false, "\(answer)")
    }

    @Test func `one request reads no more than its share`() throws {
        let queries = (0..<100).map { Self.stat(Self.metric(), id: "m\($0)") }
        let now = Int64(5_000_000)
        let input = CloudWatchValue(
            ["MetricDataQueries": .array(queries), "StartTime": 1, "EndTime": .integer(now)] as JSONValue)
        #expect(throws: CloudWatchError.self) {
            try GetMetricData(input).output(bench, now: WallTime(secondsSince1970: now))
        }
    }

    private static func searches(_ count: Int, from: Int64 = 59_400, to: Int64 = 60_060) throws -> GetMetricData {
        let queries = (0..<count).map { number -> JSONValue in
            ["Id": .string("m\(number)"), "Expression": "SEARCH('MetricName=PublishBitrate', 'Sum', 60)"]
        }
        return try GetMetricData(
            CloudWatchValue(
                ["MetricDataQueries": .array(queries), "StartTime": .integer(from), "EndTime": .integer(to)] as JSONValue))
    }

    @Test func `all searches of a request read the names of what there is once`() throws {
        let metrics = ManyMetrics(count: 3)
        _ = try Self.searches(500).output(metrics, now: CloudWatchBench.now)
        #expect(metrics.readings == 1)
    }

    /// Nothing is read of them, but each has to be found: 101 times 500.
    @Test func `series cost their share in no time as well`() throws {
        let metrics = ManyMetrics(count: 500)
        _ = try Self.searches(100, from: 70_000, to: 80_000).output(metrics, now: CloudWatchBench.now)
        #expect(throws: CloudWatchError.self) {
            try Self.searches(101, from: 70_000, to: 80_000).output(metrics, now: CloudWatchBench.now)
        }
    }

    @Test func `searches look among so many series and no more`() throws {
        let metrics = ManyMetrics(count: GetMetricData.maximumSearched / 10 + 1)
        _ = try Self.searches(9).output(metrics, now: CloudWatchBench.now)
        #expect(throws: CloudWatchError.self) { try Self.searches(10).output(metrics, now: CloudWatchBench.now) }
    }

    @Test func `a label is no longer than a kilobyte`() throws {
        func answer(_ length: Int) throws -> JSONValue {
            var query = try #require(Self.stat(Self.metric()).object)
            query["Label"] = .string(String(repeating: "l", count: length))
            return try data([.object(query)])
        }
        #expect(try answer(1_024)["MetricDataResults"]?[0]?["Label"]?.string?.count == 1_024)
        #expect(try answer(1_025)["__type"] != nil)
    }

    // MARK: - GetMetricStatistics

    @Test func `one series, several statistics`() throws {
        var input = try #require(Self.metric().object)
        (input["StartTime"], input["EndTime"], input["Period"]) = ("1970-01-01T16:30:00Z", "1970-01-01T16:41:00Z", 300)
        input["Statistics"] = ["Average", "Maximum"]
        let answer = try bench.json("GetMetricStatistics", .object(input))
        #expect(
            answer == [
                "Label": "Publishers",
                "Datapoints": .array(
                    [(59_400.0, 2.5, 4.0), (59_700, 7, 9), (60_000, 10, 10)].map {
                        ["Timestamp": .number($0.0), "Average": .number($0.1), "Maximum": .number($0.2), "Unit": "Count"]
                    }),
            ])
        input["Unit"] = "Percent"
        #expect(try bench.json("GetMetricStatistics", .object(input))["Datapoints"] == [])
        (input["Unit"], input["StartTime"], input["Period"]) = (nil, 0, 60)
        #expect(try bench.json("GetMetricStatistics", .object(input))["Datapoints"]?.array?.count == 10)
    }

    @Test func `more than 1,440 points are too many`() throws {
        let input = CloudWatchValue(
            [
                "Namespace": "AWS/IVSRealTime", "MetricName": "Publishers", "StartTime": 0, "EndTime": 5_000_000, "Period": 60,
                "Statistics": ["Average"],
            ] as JSONValue)
        let statistics = try GetMetricStatistics(input)
        #expect { try statistics.output(bench, now: WallTime(secondsSince1970: 5_000_000)) } throws: {
            ($0 as? CloudWatchError)?.code == "InvalidParameterCombination"
        }
    }

    // MARK: - Whose they are

    @Test(arguments: [
        ("ListMetrics", #"{}"#, [""]), ("ListMetrics", #"{"Dimensions": [{"Name": "Stage", "Value": "abc"}]}"#, ["abc"]),
        ("ListMetrics", #"{"Dimensions": [{"Name": "Stage"}]}"#, [""]),
        (
            "GetMetricData",
            #"{"MetricDataQueries": [{"MetricStat": {"Metric": {"Dimensions": [{"Name": "Stage", "Value": "a"}]}}}, {"Expression": "x"}]}"#,
            ["", "a"]
        ),
        ("GetMetricStatistics", #"{"Dimensions": [{"Name": "Stage", "Value": "b"}]}"#, ["b"]),
    ])
    func `a request is about the stages that it names`(operation: String, input: String, stages: [String]) throws {
        let call = try #require(try CloudWatchCall(CloudWatchBench.json(operation, Array(input.utf8))))
        #expect(call.stageIDs.sorted() == stages)
    }
}

/// Series without a point, and how often somebody has read which they are.
private final class ManyMetrics: MetricReading {
    private let series: [MetricSeries]
    private(set) var readings = 0

    init(count: Int) { series = (0..<count).map { MetricSeries(.publishBitrate, stage: "s", participant: "\($0)") } }

    func metricSeries(ofStage stage: String?, since minute: Int32) -> [MetricSeries] {
        readings += 1
        return series
    }

    func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) -> [[MetricPoint]] { series.map { _ in [] } }
}
