import Foundation
import TestSupport
import Testing

/// Gateways of one platform, each on an address of loopback of its own, and the servers they share.
///
/// All are started in quickstart mode: the demo stage, its key and the access key are the platform's.
final class Platform {
    let redis: RedisServer
    private(set) var nodes: [Gateway] = []
    private let key: URL
    private let settings: (_ node: Int) -> String

    /// Whether the counts are those of the demand; a whole run takes less of each.
    static let isWhole = ProcessInfo.processInfo.environment["INTEROP_CLUSTER"] == "all"

    /// - Parameters:
    ///   - redis: what the nodes share; else a server that keeps every acknowledged write.
    ///   - cluster: `redis` and `topology` of the nodes' configuration; else that server.
    ///   - extra: more of a node's configuration.
    init(
        _ count: Int = 3, redis: RedisServer? = nil, cluster: String? = nil,
        extra: @escaping (_ node: Int) -> String = { _ in "" }
    ) throws {
        let server = try redis ?? RedisServer(["appendonly yes", "appendfsync always"])
        self.redis = server
        key = Workspace.temporaryFile(suffix: ".key")
        try Data((0..<32).map { _ in UInt8.random(in: 0...255) }).write(to: key)
        let (path, servers) = (key.path, cluster ?? "redis: [\"127.0.0.1:\(server.port)\"]")
        settings = { node in
            """
            cluster: {\(servers), platformKeyFile: "\(path)", node: "\(Self.names[node])"}
            \(Gateway.roomForMany)
            \(extra(node))
            """
        }
        for node in 0..<count { nodes.append(try start(node)) }
        expect("all nodes know each other", within: .seconds(30)) {
            nodes.allSatisfy { (try? $0.admin("metrics")).flatMap { Gateway.sample("stagedoor_cluster_nodes", in: $0) } == count }
        }
    }

    private static let names = ["a", "b", "c", "d"]

    /// Starts a node, or one again with the data that it had.
    private func start(_ node: Int, data: URL? = nil) throws -> Gateway {
        try Gateway(configuration: settings(node), participants: 100, data: data, address: "127.0.0.\(21 + node)")
    }

    /// Starts a node again that has ended.
    func restart(_ node: Int) throws { nodes[node] = try start(node, data: nodes[node].data) }

    /// One more node, at the end of the list.
    func add() throws { nodes.append(try start(nodes.count)) }

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
