import Foundation
import TestSupport
import Testing

/// Gateways of one platform, each on an address of loopback of its own, and the servers they share.
///
/// All are started in quickstart mode: the demo stage, its key and the access key are the platform's.
final class Platform {
    let redis: RedisServer
    private(set) var nodes: [Gateway] = []
    private let key = Workspace.temporaryFile(suffix: ".key")
    /// What the nodes' `cluster` section says of the servers.
    private let servers: String?
    /// More of that section.
    private let cluster: String
    private let extra: String
    private let routers: [String?]
    /// Each node's TCP way to the servers, where it has one of its own.
    private var ways: [BreakingWay] = []
    /// Where each node serves WHIP, at its own address, and has others send encoders to; nil: nowhere.
    private let webPort: Int?

    /// `INTEROP_CLUSTER=all` for the counts of the demand, on a quiet machine.
    static let isWhole = ProcessInfo.processInfo.environment["INTEROP_CLUSTER"] == "all"
    /// Of tests for which a whole run has no time (`Forky.isAsked`).
    static let reason: Comment = "a minute of a platform, and ClusterStoreTests do most of it: run `make interop`"

    /// - Parameters:
    ///   - redis: what the nodes share; else a server that keeps every acknowledged write.
    ///   - servers: `redis` and `topology` of the nodes' `cluster` section; else that server.
    ///   - cluster: more of that section.
    ///   - extra: more of the nodes' configuration.
    ///   - routers: entries of each node's `routers`, in place of its own.
    ///   - canBeCut: whether nodes reach their one server each by a way that `cut` takes away.
    init(
        _ count: Int = 3, redis: RedisServer? = nil, servers: String? = nil, cluster: String = "", webPort: Int? = nil,
        extra: String = "", routers: [String?] = [], canBeCut: Bool = false
    ) throws {
        self.redis = try redis ?? RedisServer(["appendonly yes", "appendfsync always"])
        (self.servers, self.cluster) = (servers, cluster)
        (self.webPort, self.extra, self.routers) = (webPort, extra, routers)
        if canBeCut { ways = try (0..<count).map { _ in try BreakingWay(to: Int(self.redis.port)) } }
        try Data((0..<32).map { _ in UInt8.random(in: 0...255) }).write(to: key)
        for node in 0..<count { nodes.append(try start(node)) }
        expect("all nodes know each other", within: .seconds(60)) {
            nodes.allSatisfy { (try? $0.admin("metrics")).flatMap { Gateway.sample("stagedoor_cluster_nodes", in: $0) } == count }
        }
    }

    static func whip(_ node: Int, _ port: Int) -> String { "http://\(address(node)):\(port)/whip" }
    private static func address(_ node: Int) -> String { "127.0.0.\(21 + node)" }
    private static let names = ["a", "b", "c", "d"]

    private func settings(_ node: Int) -> String {
        let publicURL = webPort.map { ", publicURL: \"\(Self.whip(node, $0))\"" } ?? ""
        let port = ways.indices.contains(node) ? ways[node].port : Int(redis.port)
        let servers = servers ?? "redis: [\"127.0.0.1:\(port)\"]"
        return """
            cluster: {\(servers)\(cluster), platformKeyFile: "\(key.path)", node: "\(Self.names[node])"\(publicURL)}
            \(Gateway.roomForMany)
            \(extra)
            """
    }

    /// Starts a node, or one again with the data that it had.
    private func start(_ node: Int, data: URL? = nil) throws -> Gateway {
        let launcher = webPort.map { ["env", "STAGEDOOR_HTTP_LISTEN=\(Self.address(node)):\($0)"] } ?? []
        return try Gateway(
            configuration: settings(node), routers: node < routers.count ? routers[node] : nil, participants: 100, data: data,
            launcher: launcher, address: Self.address(node))
    }

    /// Starts a node again that has ended.
    func restart(_ node: Int) throws { nodes[node] = try start(node, data: nodes[node].data) }

    /// Another process with a node's configuration, and a data directory of its own.
    func double(of node: Int) throws -> Gateway { try start(node) }

    /// One more node, at the end of the list.
    func add() throws { nodes.append(try start(nodes.count)) }

    /// What a command of the program says that takes the platform's configuration.
    func command(_ words: [String]) throws -> String {
        let file = Workspace.temporaryFile(suffix: ".yaml")
        try "http: {listen: \"127.0.0.1:0\"}\n\(settings(0))".write(to: file, atomically: true, encoding: .utf8)
        let run = try ProgramRun([try Workspace.program("stagedoor"), words[0], "--config", file.path] + words.dropFirst())
        _ = run.status(within: .seconds(60))
        return run.output
    }

    /// Nothing passes between a node and the servers from now on; no connection ends.
    func cut(_ node: Int) { ways[node].send(SIGSTOP) }
    /// What was on its way arrives late.
    func mend(_ node: Int) { ways[node].send(SIGCONT) }

    func stop() { for node in nodes { node.stop() } }

    /// One control API client for all nodes (`Clients/cluster.py`).
    func client(_ command: String, _ options: [String] = []) throws -> ProgramRun {
        let first = nodes[0].quickstart
        let endpoints = try nodes.filter(\.isRunning).map {
            "\(try #require($0.quickstart.adminURL)),\(try #require($0.quickstart.whipURL)),\($0.quickstart.rtmpURL)"
        }
        return try ProgramRun(
            [
                Workspace.package.appending(path: ".deps/venv/bin/python").path,
                Workspace.package.appending(path: "Tests/Interop/Clients/cluster.py").path, command,
                try #require(first.accessKeyId), try #require(first.secretAccessKey), endpoints.joined(separator: ";"),
            ] + options)
    }
}
