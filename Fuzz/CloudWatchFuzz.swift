// fuzz: module=CloudWatch
import CloudWatch
import HTTP
import StageMetrics
import Wire

/// Any request is answered or refused, in the protocol that it speaks.
enum CloudWatchFuzz {
    private struct Kept: MetricReading {
        let series = [MetricSeries(.publishers, stage: "a"), MetricSeries(.publishers, stage: "b")]

        func metricSeries(ofStage stage: String?, since minute: Int32) -> [MetricSeries] { series }
        func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) -> [[MetricPoint]] {
            series.map { _ in [MetricPoint(minute: minutes.lowerBound, 1)] }
        }
    }

    private static let operations = ["GetMetricData", "ListMetrics", "GetMetricStatistics"]

    /// The first byte is the protocol and the operation; the rest is the body.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first, let target = HTTPRequestTarget("/") else { return }
        let operation = operations[Int(first / 4) % operations.count]
        var request = HTTPRequest(method: .post, target: target, rawTarget: "/", body: [UInt8](bytes.dropFirst()))
        switch first % 4 {
        case 1: break
        case 2: request.path = "/service/GraniteServiceVersion20100801/operation/\(operation)"
        default: request.headers["X-Amz-Target"] = "GraniteServiceVersion20100801.\(operation)"
        }
        do throws(CloudWatchError) {
            guard let call = try CloudWatchCall(request) else { return }
            _ = call.stageIDs
            let answer = call.answer(from: Kept(), now: WallTime(secondsSince1970: 1_790_000_000))
            let response = call.response(answer, requestID: "id")
            precondition(response.status == .ok || (400..<500).contains(response.status.code), "no fault of ours")
        } catch {
            precondition(CloudWatchCall.response(error, to: request, requestID: "id").status.code >= 400)
        }
    }
}
