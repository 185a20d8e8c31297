import Admission
import EventLoop
import GatewayMetrics
import JSON
import MediaContract
import Monitoring
import Refusals
import Settings
import Store
import TestSupport
import Testing
import Wire

@testable import Node

@Suite
struct OverviewReportTests {
    private struct Anybody: Authorizer {
        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {}
    }

    /// A report of a node without sessions of its own.
    private final class Bench {
        private let folder: TemporaryDirectory
        private let store: EmbeddedStore
        let gate = AdmissionGate(before: Anybody())
        let report: OverviewReport
        static let names = ResourceName()
        static let quiet = names.arn(.stage, "quiet")
        static let busy = names.arn(.stage, "busy")

        init(
            load: LoadGuard.Report = .init(last: NodeLoad(), reason: nil, settings: OverloadSettings()),
            clusterFault: String? = nil, older: [JSONValue] = [], configuration: StagedoorConfiguration = StagedoorConfiguration()
        ) throws {
            folder = try TemporaryDirectory()
            store = try EmbeddedStore(
                directory: folder.path,
                seeding: { transaction in
                    for (arn, second) in [(Bench.busy, 1), (Bench.quiet, 2)] {
                        transaction.put(Stage(arn: arn, name: "", createdAt: WallTime(secondsSince1970: Int64(second))))
                    }
                })
            let metrics = MetricsRegistry()
            let board = SessionBoard(metrics: metrics)
            report = OverviewReport(
                sampler: SessionSampler(loop: try EventLoop(), board: board, metrics: metrics),
                OverviewReport.Environment(
                    configuration: configuration, gate: gate, board: board, store: store,
                    contract: ContractContext(rules: ContractSettings()), load: { load }, phase: { "serving" },
                    clusterFault: { clusterFault }, routers: { [] },
                    urls: PublicURLs(
                        StageEndpoints(events: "", whip: "", rtmp: "rtmp://h/app/", rtmps: ""), StagedoorConfiguration(),
                        hasMedia: true), redundant: { [] }, older: { older }))
        }

        deinit { store.close() }
    }

    @Test
    func `sessions of older processes are told as such, and counted for their stage`() throws {
        let bench = try Bench(older: [["sessionId": "a", "stageArn": .string(Bench.busy)]])
        bench.gate.predecessorPublishes = 1
        let json = bench.report.json
        #expect(json["liveSessions"] == 1)
        #expect(json["endpoints"] == ["rtmp": "rtmp://h/app/"])
        #expect(json["sessions"]?.array?.map { $0["process"] } == ["older"])
        #expect(bench.report.session("a")?["stageArn"]?.string == Bench.busy)
        #expect(bench.report.session("b") == nil)
        #expect(json["stages"]?.array?.map { $0["arn"]?.string } == [Bench.busy, Bench.quiet], "those with publishers first")
        #expect(
            try Bench().report.json["stages"]?.array?.map { $0["arn"]?.string } == [Bench.quiet, Bench.busy], "then new ones")
    }

    @Test
    func `nobody is sent to plain RTMP where that is refused, as a reload may have it`() throws {
        let bench = try Bench()
        #expect(bench.report.json["endpoints"]?["rtmp"]?.string == "rtmp://h/app/")
        bench.gate.requiresTLS = true
        #expect(bench.report.json["endpoints"]?["rtmp"] == nil)
    }

    @Test
    func `a router's address is told without the password in it`() throws {
        var configuration = StagedoorConfiguration()
        var router = RouterSettings()
        (router.driver, router.url) = (.janus, "http://user:hunter2@10.0.0.1:8088/janus")
        configuration.routers = ["janus": router]
        let routers = try Bench(configuration: configuration).report.json["routers"]?.array
        #expect(routers?.map { $0["address"]?.string } == ["http://redacted@10.0.0.1:8088/janus"])
    }

    @Test
    func `it says why the cluster's servers let nobody in`() throws {
        #expect(try Bench().report.json["node"]?["clusterAway"] == nil)
        #expect(
            try Bench(clusterFault: "10.0.0.9:6379 does not answer").report.json["node"]?["clusterAway"]
                == "10.0.0.9:6379 does not answer")
    }

    @Test
    func `it says what refuses publishes, and by which measure`() throws {
        var settings = OverloadSettings()
        settings.cpu = 70
        let bench = try Bench(load: .init(last: NodeLoad(cpu: 0.75), reason: .cpu, settings: settings))
        #expect(bench.report.json["node"]?["closure"] == nil)
        bench.gate.setClosed(true, because: .overloaded)
        let json = bench.report.json
        #expect(json["node"]?["closure"] == "overloaded")
        #expect(json["node"]?["overloadedBy"] == "cpu")
        #expect(json["node"]?["cpu"] == .number(0.75))
        #expect(json["limits"]?["cpu"] == .number(0.7))
        #expect(json["node"]?["phase"] == "serving")
    }
}
