import CBOR
import HTTP
import JSON
import Testing
import Wire

@testable import CloudWatch

/// The same question, as each generation of clients sends it: bodies as botocore 1.43.11 (JSON), botocore 1.34.22 (query) and the
/// SDK for Go v2 (CBOR) write them.
@Suite("CloudWatch's three protocols")
struct CloudWatchProtocolTests {
    private let bench = CloudWatchBench()

    private static let form = """
        Action=GetMetricData&Version=2010-08-01&MetricDataQueries.member.1.Id=m1\
        &MetricDataQueries.member.1.MetricStat.Metric.Namespace=AWS%2FIVSRealTime\
        &MetricDataQueries.member.1.MetricStat.Metric.MetricName=Publishers\
        &MetricDataQueries.member.1.MetricStat.Metric.Dimensions.member.1.Name=Stage\
        &MetricDataQueries.member.1.MetricStat.Metric.Dimensions.member.1.Value=abc\
        &MetricDataQueries.member.1.MetricStat.Period=60&MetricDataQueries.member.1.MetricStat.Stat=Average\
        &MetricDataQueries.member.1.ReturnData=true\
        &StartTime=1970-01-01T16%3A38%3A00Z&EndTime=1970-01-01T16%3A40%3A00Z&ScanBy=TimestampAscending
        """
    private static let json: JSONValue = [
        "MetricDataQueries": [
            [
                "Id": "m1",
                "MetricStat": [
                    "Metric": [
                        "Namespace": "AWS/IVSRealTime", "MetricName": "Publishers",
                        "Dimensions": [["Name": "Stage", "Value": "abc"]],
                    ], "Period": 60, "Stat": "Average",
                ], "ReturnData": true,
            ]
        ], "StartTime": 59_880, "EndTime": 60_000.0, "ScanBy": "TimestampAscending",
    ]

    /// Times as CBOR's tag 1 has them.
    private static func cbor(_ value: JSONValue, name: String = "") -> CBORValue {
        switch value {
        case .object(let object): .map(object.members.map { .init($0.name, cbor($0.value, name: $0.name)) })
        case .array(let elements): .array(elements.map { cbor($0) })
        case .string(let text): .text(text)
        case .integer(let number): name.hasSuffix("Time") ? .tagged(1, .integer(number)) : .integer(number)
        case .number(let number): name.hasSuffix("Time") ? .tagged(1, .double(number)) : .double(number)
        case .bool(let value): .bool(value)
        case .null: .null
        }
    }

    @Test func `JSON is answered in JSON`() throws {
        let response = try bench.ask(CloudWatchBench.json("GetMetricData", Self.json.serialized()))
        #expect(response.status == .ok && response.headers["Content-Type"] == "application/x-amz-json-1.0")
        #expect(
            try JSONValue(parsing: response.body) == [
                "MetricDataResults": [
                    [
                        "Id": "m1", "Label": "Publishers", "Timestamps": [59_880.0, 59_940.0], "Values": [8.0, 9.0],
                        "StatusCode": "Complete", "Messages": [],
                    ]
                ], "Messages": [],
            ])
    }

    @Test func `CBOR is answered in CBOR, times with their tag`() throws {
        let response = try bench.ask(CloudWatchBench.cbor("GetMetricData", Self.cbor(Self.json)))
        #expect(response.status == .ok && response.headers["smithy-protocol"] == "rpc-v2-cbor")
        #expect(response.headers["Content-Type"] == "application/cbor")
        #expect(
            try CBORValue(parsing: response.body)
                == .map([
                    .init(
                        "MetricDataResults",
                        .array([
                            .map([
                                .init("Id", .text("m1")), .init("Label", .text("Publishers")),
                                .init("Timestamps", .array([.tagged(1, .double(59_880)), .tagged(1, .double(59_940))])),
                                .init("Values", .array([.double(8), .double(9)])), .init("StatusCode", .text("Complete")),
                                .init("Messages", .array([])),
                            ])
                        ])), .init("Messages", .array([])),
                ]))
    }

    @Test func `a form is answered in XML`() throws {
        let response = try bench.ask(CloudWatchBench.form(Self.form))
        #expect(response.status == .ok && response.headers["Content-Type"] == "text/xml")
        #expect(
            String(decoding: response.body, as: UTF8.self) == """
                <GetMetricDataResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><GetMetricDataResult>\
                <MetricDataResults><member><Id>m1</Id><Label>Publishers</Label>\
                <Timestamps><member>1970-01-01T16:38:00.000Z</member><member>1970-01-01T16:39:00.000Z</member></Timestamps>\
                <Values><member>8.0</member><member>9.0</member></Values><StatusCode>Complete</StatusCode><Messages></Messages>\
                </member></MetricDataResults><Messages></Messages></GetMetricDataResult>\
                <ResponseMetadata><RequestId>id</RequestId></ResponseMetadata></GetMetricDataResponse>

                """)
    }

    @Test func `errors have each protocol's shape, and the old code in all of them`() throws {
        let json = try bench.ask(CloudWatchBench.json("GetMetricStatistics", Array("{}".utf8)))
        #expect(json.status.code == 400 && json.headers["x-amzn-query-error"] == "MissingParameter;Sender")
        let told = try JSONValue(parsing: json.body)
        #expect(told["__type"] == "com.amazonaws.cloudwatch#MissingRequiredParameterException")
        #expect(told["message"]?.string == "The parameter Namespace is required.")
        let cbor = try bench.ask(CloudWatchBench.cbor("GetMetricStatistics", .map([])))
        #expect(cbor.status.code == 400 && cbor.headers["x-amzn-query-error"] == "MissingParameter;Sender")
        guard case .map(let members) = try CBORValue(parsing: cbor.body) else { return #expect(Bool(false)) }
        #expect(members.first?.name == "__type" && members.last?.value == .text("The parameter Namespace is required."))
        let form = try bench.ask(CloudWatchBench.form("Action=GetMetricStatistics&Version=2010-08-01"))
        #expect(form.status.code == 400)
        #expect(String(decoding: form.body, as: UTF8.self).contains("<Type>Sender</Type><Code>MissingParameter</Code><Message>"))
    }

    @Test func `other operations are unknown, and what is not CloudWatch's is not taken`() throws {
        let unknown = [
            try CloudWatchBench.json("PutMetricData", []), try CloudWatchBench.cbor("PutMetricData", .map([])),
            try CloudWatchBench.form("Action=DescribeAlarms&Version=2010-08-01"),
        ]
        for request in unknown { #expect(try bench.ask(request).status.code == 404) }
        #expect(try CloudWatchCall(CloudWatchBench.form("a=b")) == nil)
        var request = try CloudWatchBench.json("ListMetrics", [])
        request.headers["X-Amz-Target"] = "DynamoDB_20120810.ListTables"
        #expect(try CloudWatchCall(request) == nil)
    }

    @Test(arguments: ["{", "[]x", "\u{1}"])
    func `bodies that cannot be read are refused`(body: String) throws {
        #expect(try bench.ask(CloudWatchBench.json("ListMetrics", Array(body.utf8))).status.code == 400)
        var request = try CloudWatchBench.cbor("ListMetrics", .null)
        request.body = [0x9F]
        #expect(try bench.ask(request).status.code == 400)
    }

    @Test(arguments: [(512, 200), (513, 400)])
    func `texts that are not ASCII have 1,024 bytes at most`(count: Int, status: Int) throws {
        let marks = String(repeating: "\u{301}", count: count)
        let named = try CloudWatchBench.json("ListMetrics", JSONValue.object(["MetricName": .string(marks)]).serialized())
        #expect(try bench.ask(named).status.code == status)
        let member = try CloudWatchBench.cbor("ListMetrics", .map([.init(marks, .bool(true))]))
        #expect(try bench.ask(member).status.code == status)
    }

    @Test func `a form has names of ASCII alone`() throws {
        #expect(try bench.ask(CloudWatchBench.form("Action=ListMetrics&A=%CC%81")).status.code == 200)
        #expect(try bench.ask(CloudWatchBench.form("Action=ListMetrics&%CC%81=A")).status.code == 400)
    }

    @Test(arguments: [
        ("1970-01-01T16:38:00Z", 59_880), ("1970-01-01T16:38:00.000Z", 59_880), ("1970-01-01T18:38:00+02:00", 59_880),
        ("1970-01-01T15:08:00-0130", 59_880), ("19700101T163800Z", 59_880),
    ])
    func `times are read in every form that clients write`(text: String, seconds: Int64) {
        #expect(WallTime(iso8601: text) == WallTime(secondsSince1970: seconds))
    }

    @Test(arguments: ["", "now", "1970-01-01", "1970-01-01T25:00:00Z", "1970-01-01T16:38:00", "1970-01-01T16:38:00+2"])
    func `other texts are no time`(text: String) { #expect(WallTime(iso8601: text) == nil) }

    @Test func `texts are escaped`() {
        let answer = XMLAnswer.document(["A": "<&>\"\u{1}x"], to: "O", requestID: "r")
        #expect(String(decoding: answer, as: UTF8.self).contains("<A>&lt;&amp;&gt;&quot;x</A>"))
    }
}
