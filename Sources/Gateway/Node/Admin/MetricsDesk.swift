import CloudWatch
import ControlPlane
import EventLoop
import HTTP
import HTTPServer
import JSON
import Monitoring
import OpenSSL
import StageMetrics
import Store
import Wire

/// What the admin listener tells of metrics by CloudWatch's names: in its protocols, and of one stage as JSON. Confined to the
/// control loop; what is kept is read on the store's thread.
final class MetricsDesk {
    private let api: ControlPlane
    private let sampler: SessionSampler
    private let store: any GatewayStore
    private let client: StoreClient
    private let names: ResourceName

    init(loop: EventLoop, api: ControlPlane, sampler: SessionSampler, store: any GatewayStore, names: ResourceName) throws {
        (self.api, self.sampler, self.store, self.names) = (api, sampler, store, names)
        client = try StoreClient(loop: loop, store: store)
    }

    /// Answers one of CloudWatch's operations.
    func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let requestID = String(uuid: Random.bytes(count: 16), version: 4)
        do throws(CloudWatchError) {
            guard let call = try CloudWatchCall(request) else { return exchange.respond(Self.notPosted) }
            if let refusal = refusal(of: request, call) { throw refusal }
            let (open, now) = (sampler.collector.open, EventLoop.wallNow())
            client.read {
                call.answer(from: MetricView($0, open: open), now: now)
            } then: { answer in
                exchange.respond(call.response(answer ?? .failure(.internalFault), requestID: requestID))
            }
        } catch {
            exchange.respond(CloudWatchCall.response(error, to: request, requestID: requestID))
        }
    }

    private func refusal(of request: HTTPRequest, _ call: CloudWatchCall) -> CloudWatchError? {
        let state = store.state
        let stages = call.stageIDs.map { $0.isEmpty ? "" : state.stageARN(ofID: $0, names: names) }
        let action = AccessAction.cloudWatch(call.operation.rawValue)
        return api.metricsRefusal(of: request, for: action, on: stages).map {
            CloudWatchError(type: $0.type, status: $0.status, message: $0.message)
        }
    }

    /// What is posted to the console's page and is none of CloudWatch's.
    private static var notPosted: HTTPResponse {
        ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, HEAD"])
    }

    /// `?metricName=…&participantId=…&minutes=…` choose among the series of a stage.
    func answer(aboutStage id: String, _ request: HTTPRequest, _ exchange: HTTPExchange) {
        guard let stage = store.state.stage(ofID: id) else {
            return exchange.respond(ProblemDocument(.notFound, detail: "There is no stage of this id.").response())
        }
        do {
            let question = try StageMetricsQuestion(stageID: id, stageARN: stage.arn, request.queryItems)
            let (open, now) = (sampler.collector.open, EventLoop.wallNow())
            client.read {
                try question.answer(from: MetricView($0, open: open), now: now)
            } then: { (answer: JSONValue??) in
                exchange.respond(Self.response(answer))
            }
        } catch {
            exchange.respond(error.problem.response())
        }
    }

    private static func response(_ answer: JSONValue??) -> HTTPResponse {
        switch answer {
        case .some(let json?): HTTPResponse(.ok, json: json, headers: ["Cache-Control": "no-store"])
        case .some(nil):
            ProblemDocument(
                .badRequest, detail: "That would be too long: ask for fewer minutes, one metricName or one participantId."
            ).response()
        case nil: ProblemDocument(.serviceUnavailable, detail: "The store does not answer.").response()
        }
    }
}

extension StageMetricsQuestion {
    /// What is wrong with a query.
    fileprivate struct Fault: Error {
        var problem: ProblemDocument
        init(_ detail: String) { problem = ProblemDocument(.badRequest, detail: detail) }
    }

    fileprivate init(stageID: String, stageARN: String, _ query: QueryItems) throws(Fault) {
        self.init(stageID: stageID, stageARN: stageARN)
        for item in query.items {
            switch item.name {
            case "metricName": metricName = item.value
            case "participantId": participantID = item.value
            case "minutes":
                guard let number = Int32(item.value), (1...MetricRetention.minutes).contains(number) else {
                    throw Fault("minutes is a number from 1 to \(MetricRetention.minutes).")
                }
                minutes = number
            default: throw Fault("Only metricName, participantId and minutes are known here.")
            }
        }
        let known = MetricSeries.Metric.allCases.map(\.rawValue)
        if let metricName, !known.contains(metricName) { throw Fault("metricName is one of \(known.joined(separator: ", ")).") }
    }
}
