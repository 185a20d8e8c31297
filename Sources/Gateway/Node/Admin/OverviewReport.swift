import Admission
import EventLoop
import GatewayMetrics
import JSON
import MediaContract
import Monitoring
import RedundantIngest
import RouterForwarding
import Settings
import Store
import Wire

/// `GET /v1/overview`: everything that the console shows, in one bounded document. Lives on the control loop.
final class OverviewReport {
    /// What it looks at.
    struct Environment {
        var configuration: StagedoorConfiguration
        var gate: AdmissionGate
        var board: SessionBoard
        var store: any GatewayStore
        var contract: ContractContext
        var load: () -> LoadGuard.Report
        /// How far a drain is.
        var phase: () -> String
        /// Why the cluster's servers do not answer, or write; nil while they do.
        var clusterFault: () -> String?
        var routers: () -> [RouterControl.Status]
        var urls: PublicURLs
        /// Participants of two encoders.
        var redundant: () -> [RedundancyStatus]
        /// Live sessions of the processes before us.
        var older: () -> [JSONValue]
    }

    private let environment: Environment
    private let sampler: SessionSampler
    private let startedAt = EventLoop.wallNow()

    init(sampler: SessionSampler, _ environment: Environment) { (self.sampler, self.environment) = (sampler, environment) }

    var json: JSONValue {
        let live = environment.board.live.sorted { ($0.began, $0.id) < ($1.began, $1.id) }
        return [
            "node": node, "limits": limits, "stages": .array(stages(live)),
            "sessions": .array(sessions(live)),
            "liveSessions": .integer(Int64(live.count + environment.gate.predecessorPublishes)),
            "ended": .array(environment.board.ended.suffix(Self.maximumEnded).reversed().map { .object($0.json()) }),
            "refused": .array(environment.board.refused.suffix(Self.maximumRefused).reversed().map(\.json)),
            "routers": .array(routerList), "endpoints": endpoints,
            "redundant": .array(environment.redundant().prefix(Self.maximumSessions).map { .object($0.json) }),
        ]
    }

    /// Live sessions, for another process of this node to list.
    var sessions: [JSONValue] { sessions(environment.board.live, withRules: true) }

    /// - Parameter withRules: the tables of rules too, which are too long for a list that is asked for every second.
    private func sessions(_ live: [SessionRecord], withRules: Bool = false) -> [JSONValue] {
        let older = environment.older().map { session in
            guard var object = session.object else { return session }
            object["process"] = "older"
            if !withRules { object["rules"] = nil }
            return .object(object)
        }
        let own = live.prefix(max(0, Self.maximumSessions - older.count)).map {
            JSONValue.object(withRules ? whole($0) : $0.json(sampler.sample(of: $0)))
        }
        return own + older
    }

    private func whole(_ record: SessionRecord) -> JSONObject {
        var object = record.json(sampler.sample(of: record))
        object["rules"] = record.rulesJSON
        return object
    }

    /// Brings the metrics of received media up to this moment: they are sampled once a second.
    func countReceived() { sampler.count() }

    func stage(id: String) -> Stage? { environment.store.state.stage(ofID: id) }

    func session(_ id: String) -> JSONObject? {
        environment.board.session(id: id).map(whole)
            ?? environment.older().first { $0["sessionId"]?.string == id }?.object
    }

    /// Sessions that are listed; more of them are only counted.
    static let maximumSessions = 200
    private static let maximumStages = 200
    private static let maximumEnded = 20
    private static let maximumRefused = 20
}

extension OverviewReport {
    private var node: JSONValue {
        let now = EventLoop.wallNow()
        var node: JSONObject = [
            "version": .string(Version.current), "host": .string(MachineName.current),
            "time": .string(CivilTime(now).rfc3339), "uptimeSeconds": .integer((now - startedAt).components.seconds),
            "phase": .string(environment.phase()), "region": .string(environment.configuration.platform.region),
            "grantedCPUs": .integer(Int64(CPUAllowance.granted)),
            "livePublishes": .integer(Int64(environment.gate.livePublishes)),
            "maximumDescriptors": .integer(Int64(ProcessMetrics.maximumDescriptorCount)),
        ]
        if let closure = environment.gate.closure { node["closure"] = .string("\(closure)") }
        if let fault = environment.clusterFault() { node["clusterAway"] = .string(fault) }
        let report = environment.load()
        if let reason = report.reason { node["overloadedBy"] = .string(reason.rawValue) }
        let load = report.last
        node["cpu"] = .number(load.cpu)
        node["loopLagMilliseconds"] = .number(load.loopLag.inSeconds * 1_000)
        node["descriptors"] = .number(load.descriptors)
        node["memoryBytes"] = .integer(Int64(load.memory))
        return .object(node)
    }

    private var limits: JSONValue {
        let (contract, overload) = (environment.contract.rules(forStageTags: [:]), environment.load().settings)
        return [
            "cpu": .number(Double(overload.cpu) / 100), "loopLagMilliseconds": .integer(overload.loopLag.milliseconds),
            "descriptors": .number(Double(overload.descriptors) / 100), "memoryBytes": .integer(Int64(overload.memory.bytes)),
            "maximumPublishers": .integer(Int64(overload.maximumPublishers)),
            "publishersPerStage": .integer(Int64(environment.configuration.quotas.publishersPerStage)),
            "videoBitsPerSecond": .integer(Int64(contract.videoBitrate.limit)),
        ]
    }

    /// Stages with publishers first, then the newest ones.
    private func stages(_ live: [SessionRecord]) -> [JSONValue] {
        var counts = live.filter(\.isOnStage).reduce(into: [String: Int]()) { $0[$1.grant.stageARN, default: 0] += 1 }
        for session in environment.older() { if let arn = session["stageArn"]?.string { counts[arn, default: 0] += 1 } }
        let shown = environment.store.state.stages.values.least(Self.maximumStages) {
            let (left, right) = (counts[$0.arn] ?? 0, counts[$1.arn] ?? 0)
            return left != right ? left > right : ($0.createdAt, $0.arn) > ($1.createdAt, $1.arn)
        }
        return shown.map { stage in
            [
                "arn": .string(stage.arn), "id": .string(stage.id), "name": .string(stage.name),
                "publishers": .integer(Int64(counts[stage.arn] ?? 0)),
                "createdAt": .string(CivilTime(stage.createdAt).rfc3339),
                "storageConfigurationArn": .string(stage.recording.storageARN),
                "thumbnailSeconds": .integer(Int64(stage.recording.thumbnailInterval ?? 0)),
            ]
        }
    }

    /// Where plain RTMP is refused, nobody is sent there.
    private var endpoints: JSONValue {
        guard environment.gate.requiresTLS, var urls = environment.urls.json.object else { return environment.urls.json }
        urls["rtmp"] = nil
        return .object(urls)
    }

    private var routerList: [JSONValue] {
        let asked = Dictionary(uniqueKeysWithValues: environment.routers().map { ($0.name, $0) })
        return environment.configuration.routers.sorted { $0.key < $1.key }.map { name, settings in
            var router: JSONObject = ["name": .string(name), "driver": .string(settings.driver.rawValue)]
            let status = asked[name]
            router["health"] = .string(status.map { $0.isDead ? "dead" : $0.isEligible ? "healthy" : "failing" } ?? "unasked")
            if let status { router["participants"] = .integer(Int64(status.participantCount)) }
            router["address"] = .string(settings.url.isEmpty ? settings.host : settings.url.withoutCredentials)
            return .object(router)
        }
    }
}
