import JSON
import StageMetrics
import Testing
import Wire

@testable import CloudWatch

/// What Grafana's CloudWatch data source sends (its documentation, and pkg/tsdb/cloudwatch): its test, its menus, and its curves
/// with all dimensions named, with wildcards, with several values and with labels of its own.
@Suite("What Grafana asks of CloudWatch")
struct GrafanaTests {
    private let bench = CloudWatchBench()

    private func curves(_ expression: String, label: String? = nil) throws -> [String] {
        var query: JSONObject = ["Id": "queryA", "Expression": .string(expression), "ReturnData": true, "Period": 60]
        if let label { query["Label"] = .string(label) }
        let answer = try bench.json(
            "GetMetricData",
            [
                "MetricDataQueries": [.object(query)], "StartTime": 59_400, "EndTime": 60_060, "ScanBy": "TimestampAscending",
                "LabelOptions": ["Timezone": "+0100"],
            ])
        return (answer["MetricDataResults"]?.array ?? []).map {
            "\($0["Label"]?.string ?? ""): \($0["Values"]?.array?.last?.double ?? -1)"
        }
    }

    @Test func `the data source's own test asks for a metric of another namespace`() throws {
        let answer = try bench.json("ListMetrics", ["Namespace": "AWS/Billing", "MetricName": "EstimatedCharges"])
        #expect(answer == ["Metrics": []])
    }

    @Test func `menus have metrics, names of dimensions and their values`() throws {
        let answer = try bench.json(
            "ListMetrics",
            ["Namespace": "AWS/IVSRealTime", "MetricName": "PublishBitrate", "Dimensions": [["Name": "Stage", "Value": "abc"]]])
        let metrics = answer["Metrics"]?.array ?? []
        #expect(metrics.count == 2 && metrics.allSatisfy { $0["Namespace"] == "AWS/IVSRealTime" })
        #expect(
            metrics[0]["Dimensions"]?.array?.compactMap { $0["Name"]?.string } == [
                "Stage", "Participant", "SimulcastLayer", "MediaType",
            ])
    }

    @Test(arguments: [
        // Every dimension is named, but one may be anything.
        (
            #"REMOVE_EMPTY(SEARCH('{"AWS/IVSRealTime","Stage","Participant","SimulcastLayer","MediaType"} MetricName="PublishBitrate" "Stage"="abc"', 'Maximum', 60))"#,
            ["abc p1 disabled audio: 96000.0", "abc p1 hi video: 2000000.0"]
        ),
        // Several values of one.
        (
            #"REMOVE_EMPTY(SEARCH('{"AWS/IVSRealTime","Stage"} MetricName="Publishers" "Stage"=("abc" OR "other")', 'Average', 60))"#,
            ["abc: 10.0"]
        ),
        // "Match exact" is off: other dimensions may be there.
        (
            #"REMOVE_EMPTY(SEARCH('Namespace="AWS/IVSRealTime" MetricName="PublishBitrate" "MediaType"="audio"', 'Average', 60))"#,
            ["abc p1 disabled audio: 96000.0"]
        ),
        // Typed by hand.
        ("SEARCH('{AWS/IVSRealTime,Stage} MetricName=Publishers', 'Sum')", ["abc: 10.0"]),
        (#"SEARCH('{AWS/EC2,InstanceId} MetricName="CPUUtilization"', 'Average', 300)"#, []),
    ])
    func `searches find every curve that has points`(expression: String, curves: [String]) throws {
        #expect(try self.curves(expression) == curves)
    }

    /// An expression whose quantifiers go back would divide the blanks in 10¹¹ ways before it gave up.
    @Test func `blanks cost no more than other text`() throws {
        let blanks = String(repeating: " ", count: 350)
        for end in ["\(blanks))\(blanks)\(blanks)x", "\(blanks)\(blanks),\(blanks)x", "\(blanks),\(blanks)60\(blanks)"] {
            #expect(throws: CloudWatchError.self) { try MetricSearch(parsing: "\(blanks)SEARCH('a=b', 'Sum'\(end)") }
        }
        let search = try MetricSearch(
            parsing: "\(blanks)SEARCH( 'Stage=(\"a\"\(blanks)OR\(blanks)\"b\"\(blanks))' , 'Sum' , 60 ) \(blanks)")
        #expect(search.statistic == "Sum" && search.period == 60)
        #expect(search.finds(MetricSeries(.publishers, stage: "a")) && search.finds(MetricSeries(.publishers, stage: "b")))
        #expect(!search.finds(MetricSeries(.publishers, stage: "c")))
    }

    @Test func `labels name what the curve is of`() throws {
        let label = "${PROP('MetricName')} ${PROP('Dim.MediaType')} ${PROP('Stat')} ${PROP('Period')}"
        let found = try curves("SEARCH('{AWS/IVSRealTime,Stage} MetricName=\"Publishers\"', 'Average', 60)", label: label)
        #expect(found == ["Publishers  Average 60: 10.0"])
    }
}
