import Admission
import Cluster
import EmbeddedRouter
import EventLoop
import GatewayLogging
import GatewayMetrics
import OpenSSL
import Redis
import RouterForwarding
import Settings
import Sockets
import Store
import Wire

/// The control loop's side of a cluster: this node's part in it, what it says of itself to the others, and what operators see.
final class ClusterService: NodeService {
    /// Where others reach this node.
    struct Addresses {
        /// Its public HTTP, as the other nodes see it.
        var node: String
        /// As the encoders that are sent on to it see it.
        var `public`: String
    }

    /// The parts of the node that its heartbeats report on.
    struct Reported {
        var gate: AdmissionGate
        var load: LoadGuard
        /// Nil without routers that are asked.
        var routers: RouterControl?
        /// Nil without the embedded router.
        var embedded: EmbeddedRouterContext?
    }

    private let node: ClusterMember
    private let cluster: ClusterContext
    private let reported: Reported
    private var reports: TimerWatch?
    private var known: Set<String> = []
    /// Another process of our name was told of once.
    private var hasToldOfRival = false

    init(
        loop: EventLoop, cluster: ClusterContext, addresses: Addresses, metrics: MetricsRegistry, _ reported: Reported
    ) throws(SystemError) {
        node = try ClusterMember(loop: loop, leases: cluster.leases, redis: cluster.redis)
        (self.cluster, self.reported) = (cluster, reported)
        (node.record.nodeURL, node.record.publicURL) = (addresses.node, addresses.public)
        node.record.process = String(hexadecimal: Random.bytes(count: 8))
        node.onStateChange = { [unowned self] in changed($0) }
        node.onWritesChange = { [unowned self] in writesChanged($0) }
        ClusterMetrics.register(cluster, in: metrics)
        tell()
        node.start()
        reports = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .milliseconds(200)) { [unowned self] in
            tell()
        }
    }

    func stop() {
        reports?.cancel()
        node.close()
    }

    /// Puts our load and state into the next heartbeat.
    private func tell() {
        let (gate, viewers) = (reported.gate, reported.embedded?.viewers ?? [])
        var record = node.record
        (record.publishers, record.isDraining) = (gate.livePublishes, gate.isLeaving)
        record.load = reported.load.report.pressure(at: gate)
        record.viewers = Set(viewers.map { NodeRecord.viewer($0.participantID, ofStage: $0.stageARN) })
        record.routers = Set(reported.routers?.status.filter { !$0.isDead }.map(\.name) ?? [])
        if record != node.record { node.record = record }
        noteNodes()
    }

    private func changed(_ state: RedisState) {
        switch state {
        case .connected(let servers):
            cluster.fault.withLock { $0.absence = nil }
            Log.event(.info, "cluster_connected", ["servers": .strings(servers.map { "\($0.address)" })])
        case .away(_, let fault):
            // Each attempt fails for a reason of its own: only the first one is logged.
            let wasFine = cluster.fault.withLock { known in
                defer { known.absence = "\(fault)" }
                return known.absence == nil
            }
            if wasFine { Log.event(.error, "cluster_away", ["because": .string("\(fault)")]) }
        }
    }

    private func writesChanged(_ error: RedisError?) {
        let reason: String? =
            switch error {
            case nil: nil
            case .refused(let refusal)?: "\(refusal)"
            case let error?: "\(error)"
            }
        cluster.fault.withLock { $0.refusal = reason }
        if let reason {
            Log.event(.error, "cluster_writes_refused", ["because": .string(reason)])
        } else {
            Log.event(.info, "cluster_writes_taken")
        }
    }

    private func noteNodes() {
        let nodes = Set(cluster.leases.nodes.map(\.id))
        for node in nodes.subtracting(known).sorted() { Log.event(.info, "cluster_node_joined", ["node": .string(node)]) }
        for node in known.subtracting(nodes).sorted() { Log.event(.warning, "cluster_node_left", ["node": .string(node)]) }
        known = nodes
        if !hasToldOfRival, node.hasRival { tellOfRival() }
    }

    /// Each of two nodes of one name takes the other's leases and sessions for its own.
    private func tellOfRival() {
        hasToldOfRival = true
        Log.event(
            .error, "cluster_name_taken",
            [
                "node": .string(node.record.id),
                "hint": "another node has this name: give each its own (cluster.node, or `node` in a copied data directory)",
            ])
    }
}

extension Listeners {
    /// Where other nodes reach our public HTTP: the operator's URL, or what is bound.
    func clusterURL(_ configuration: StagedoorConfiguration) -> String {
        let given = configuration.cluster.url
        if !given.isEmpty { return given.hasSuffix("/") ? String(given.dropLast()) : given }
        guard let address = publicHTTP.first?.localAddress else { return "" }
        return "http://\(StageEndpoints.host(configuration, address)):\(address.port)"
    }
}
