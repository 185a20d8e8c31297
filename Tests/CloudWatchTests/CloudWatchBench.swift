import CBOR
import HTTP
import JSON
import StageMetrics
import Testing
import Wire

@testable import CloudWatch

/// Metrics of a stage for ten minutes, and the three protocols in which they are asked for.
struct CloudWatchBench: MetricReading {
    /// Minute 1,000 has just ended.
    static let now = WallTime(secondsSince1970: 60_060)
    static let publishers = MetricSeries(.publishers, stage: "abc")
    static let hi = MetricSeries(.publishBitrate, stage: "abc", participant: "p1", layer: "hi", media: .video)
    static let sound = MetricSeries(.publishBitrate, stage: "abc", participant: "p1", layer: "disabled", media: .audio)
    static let other = MetricSeries(.publishers, stage: "other")

    /// Of minutes 991 to 1,000: as many publishers as minutes since 990.
    private let points: [MetricSeries: [MetricPoint]] = [
        publishers: (991...1_000).map { MetricPoint(minute: $0, Double($0 - 990)) },
        hi: (991...1_000).map { MetricPoint(minute: $0, count: 60, sum: 60e6, minimum: 5e5, maximum: 2e6) },
        sound: [MetricPoint(minute: 1_000, 96_000)], other: [MetricPoint(minute: 700, 1)],
    ]

    func metricSeries(ofStage stage: String?, since minute: Int32) -> [MetricSeries] {
        points.filter { (stage ?? $0.key.stageID) == $0.key.stageID && ($0.value.last?.minute ?? 0) >= minute }.keys.sorted()
    }

    func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) -> [[MetricPoint]] {
        series.map { (points[$0] ?? []).filter { minutes.contains($0.minute) } }
    }

    func ask(_ request: HTTPRequest) throws -> HTTPResponse {
        do {
            let call = try #require(try CloudWatchCall(request))
            return call.response(call.answer(from: self, now: Self.now), requestID: "id")
        } catch let error as CloudWatchError {
            return CloudWatchCall.response(error, to: request, requestID: "id")
        }
    }

    /// The answer to a request in JSON, as JSON.
    func json(_ operation: String, _ input: JSONValue) throws -> JSONValue {
        try JSONValue(parsing: try ask(Self.json(operation, input.serialized())).body)
    }

    static func json(_ operation: String, _ body: [UInt8]) throws -> HTTPRequest {
        try request(
            "/", body,
            ["X-Amz-Target": "GraniteServiceVersion20100801.\(operation)", "Content-Type": "application/x-amz-json-1.0"])
    }

    static func cbor(_ operation: String, _ body: CBORValue) throws -> HTTPRequest {
        try request(
            "/service/GraniteServiceVersion20100801/operation/\(operation)", body.serialized,
            ["smithy-protocol": "rpc-v2-cbor", "Content-Type": "application/cbor", "Accept": "application/cbor"])
    }

    static func form(_ form: String) throws -> HTTPRequest {
        try request("/", Array(form.utf8), ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"])
    }

    private static func request(_ path: String, _ body: [UInt8], _ headers: HTTPHeaders) throws -> HTTPRequest {
        HTTPRequest(
            method: .post, target: try #require(HTTPRequestTarget(path)), rawTarget: path, headers: headers, body: body)
    }
}
