import Admission
import EventLoop
import GatewayMetrics
import HTTP
import JSON
import MediaContract
import Monitoring
import Refusals
import TestSupport
import Testing
import Wire

@testable import ClientConfiguration
@testable import Store

/// A store with two stages and their ingest configurations, and what is served from it, driven by the test's thread.
final class SetupPlace {
    let directory: TemporaryDirectory
    let store: EmbeddedStore
    let leases: EmbeddedLeases
    let gate: AdmissionGate
    let contract = ContractContext()
    let metrics = MetricsRegistry()
    let board: SessionBoard
    let setup: StageSetup
    /// Whether a source may ask.
    var isAdmitted = true
    private let loop: EventLoop

    static let stageARN = ResourceName().arn(.stage, "one")

    init() throws {
        directory = try TemporaryDirectory()
        store = try EmbeddedStore(directory: directory.path, seeding: Self.seed)
        leases = EmbeddedLeases(store: store)
        gate = AdmissionGate(
            before: StoreAuthorizer(store: store, reports: leases) { _, _, reply in reply(.failure(Refusal(.tokenMalformed))) })
        board = SessionBoard(metrics: metrics)
        setup = StageSetup(
            store: store,
            endpoints: StageEndpoints(
                events: "", whip: "http://h:8080/whip", rtmp: "rtmp://h:1935/app/", rtmps: "rtmps://h:1935/app/"),
            gate: gate, contract: contract)
        loop = try EventLoop()
    }

    deinit { store.close() }

    private static func seed(_ transaction: inout StateTransaction) {
        let (now, names) = (WallTime(nanosecondsSince1970: 0), ResourceName())
        let high = Stage(
            arn: names.arn(.stage, "two"), tags: ["stagedoor:profiles": "main,high", "stagedoor:maxVideoBitrate": "4000000"],
            createdAt: now)
        transaction.put(Stage(arn: stageARN, createdAt: now))
        transaction.put(high)
        for (id, arn, isInsecure) in [
            ("plain", stageARN, true), ("secure", stageARN, false), ("high", high.arn, true), ("detached", "", true),
        ] {
            transaction.put(
                IngestConfiguration(
                    arn: names.arn(.ingestConfiguration, id), stageARN: arn, participantID: "p-\(id)",
                    streamKey: Secret("key-\(id)"), transport: .rtmps, insecureIngest: isInsecure, createdAt: now))
        }
    }

    /// What the stage's publisher is granted.
    var grant: PublishGrant {
        get throws {
            let answer = Lock<Result<PublishGrant, Refusal>?>(nil)
            gate.authorize(
                PublishRequest(
                    credential: .streamKey(Secret("key-plain")), ingestProtocol: .rtmps,
                    source: SocketAddress(.loopback, port: 1), userAgent: "")
            ) { new in answer.withLock { $0 = new } }
            return try #require(answer.withLock { $0 }).get()
        }
    }

    func post(
        _ body: String, method: HTTPMethod = .post, path: String = ClientConfigurationEndpoint.path,
        headers: HTTPHeaders = ["Content-Type": "application/json"]
    ) throws -> HTTPResponse? {
        let context = ClientConfigurationContext(
            setup: setup, authorizer: gate, leases: leases, board: board, metrics: metrics)
        let endpoint = try ClientConfigurationEndpoint(loop: loop, context: context) { [unowned self] _ in isAdmitted }
        let target = try #require(HTTPRequestTarget(path))
        let request = HTTPRequest(method: method, target: target, rawTarget: path, headers: headers, body: Array(body.utf8))
        var answer: HTTPResponse?
        guard endpoint.handle(request, respond: { answer = $0 }) else { return nil }
        _ = loop.run(until: { answer != nil }, within: .seconds(60))
        return answer
    }

    /// The answer's document to a client that says of itself only which key it has.
    func ask(_ key: String) throws -> JSONValue {
        let response = try #require(try post(#"{"authentication":"\#(key)"}"#))
        #expect(response.status == .ok && response.headers["Cache-Control"] == "no-store")
        return try JSONValue(parsing: response.body)
    }

    func counted(_ result: String) -> Bool {
        String(decoding: metrics.exposition(), as: UTF8.self).contains(
            "stagedoor_client_configurations_total{result=\"\(result)\"} 1\n")
    }
}
