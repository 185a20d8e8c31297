import Foundation
import TestSupport
import Testing

extension Interop {
    /// The servers that nodes share stop, or go away: streams go on. How each kind of servers does that alone: ClusterStoreTests.
    @Suite struct ClusterOutage {
        private static let streams = Platform.isWhole ? 60 : 6

        @Test(.timeLimit(.minutes(10)))
        func `no stream notices that the server is killed, started again, and paused`() throws {
            let platform = try Platform()
            try seeNoInterruption(on: platform) {
                platform.redis.kill()
                expect("the nodes notice", within: .seconds(60)) {
                    platform.nodes.allSatisfy { $0.count(of: "cluster_away") > 0 }
                }
                letPass(.seconds(1))
                try checkRefusal(platform)
                try platform.redis.start()
                expect("the nodes are back", within: .seconds(60)) {
                    platform.nodes.allSatisfy { $0.count(of: "cluster_connected") > 1 }
                }
                platform.redis.pause()
                letPass(.seconds(Platform.isWhole ? 20 : 11))
                platform.redis.resume()
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `operators hear of servers that answer but write nothing`() throws {
            let platform = try Platform()
            _ = try platform.redis.ask("CONFIG", "SET", "maxmemory", "1")
            expect("the nodes notice", within: .seconds(60)) {
                platform.nodes.allSatisfy { $0.count(of: "cluster_writes_refused") == 1 }
            }
            try checkRefusal(platform)
            #expect(try platform.nodes[0].admin("readyz").contains("maxmemory"))
            #expect(Gateway.sample("stagedoor_cluster_connected", in: try platform.nodes[0].admin("metrics")) == 0)
            _ = try platform.redis.ask("CONFIG", "SET", "maxmemory", "0")
            expect("the nodes are told of the end", within: .seconds(60)) {
                platform.nodes.allSatisfy { $0.count(of: "cluster_writes_taken") == 1 }
            }
            #expect(try platform.nodes[0].admin("readyz").contains("\"ok\""))
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Platform.reason))
        func `no stream notices a failover by Sentinel`() throws {
            let group = try RedisFailoverGroup(["appendonly yes", "appendfsync always"])
            try expect("the sentinels agree", within: .seconds(60)) { try group.isReady() }
            let servers = group.sentinels.map { "\"127.0.0.1:\($0.port)\"" }.joined(separator: ", ")
            let platform = try Platform(
                redis: group.servers[0],
                servers: "redis: [\(servers)], topology: sentinel, primary: \(RedisFailoverGroup.name)")
            try seeNoInterruption(on: platform) {
                group.servers[0].kill()
                expect("the nodes follow", within: .seconds(60)) {
                    platform.nodes.allSatisfy { $0.count(of: "cluster_connected") > 1 }
                }
            }
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Platform.reason))
        func `no stream notices that a slot of a Redis Cluster is moved`() throws {
            let cluster = try RedisCluster(["appendonly yes", "appendfsync always"])
            try expect("the cluster agrees", within: .seconds(60)) { try cluster.isReady() }
            let servers = cluster.servers.map { "\"127.0.0.1:\($0.port)\"" }.joined(separator: ", ")
            let platform = try Platform(redis: cluster.servers[0], servers: "redis: [\(servers)], topology: cluster")
            try seeNoInterruption(on: platform) {
                // What every write needs, and what the nodes tell of themselves.
                for key in ["sd:{changes}", "sd:{nodes}:alive"] {
                    let slot = try #require(Int(try cluster.servers[0].ask("CLUSTER", "KEYSLOT", key)))
                    let source = cluster.owner(ofSlot: slot)
                    let target = (source + 1) % 3
                    try cluster.beginMoving(slot: slot, from: source, to: target)
                    letPass(.seconds(1))
                    while try cluster.moveKeys(ofSlot: slot, from: source, to: target, count: 1) {}
                    letPass(.seconds(1))
                    try cluster.finishMoving(slot: slot, to: target)
                    letPass(.seconds(4))
                }
            }
        }

        /// Streams and an application that makes stages go on while `happens` happens, and a stream can be begun afterwards.
        private func seeNoInterruption(on platform: Platform, while happens: () throws -> Void) throws {
            let publishers = try publish(on: platform)
            let writer = try platform.client("write", ["outage"])
            letPass(.seconds(1))
            try happens()
            try expect("the nodes are there", within: .seconds(60)) {
                try platform.nodes.allSatisfy { Gateway.sample("stagedoor_cluster_connected", in: try $0.admin("metrics")) == 1 }
            }
            // Whatever has expired is looked at again by now.
            letPass(.seconds(Platform.isWhole ? 20 : 4))
            try checkWrites(writer, of: platform)
            try check(publishers, of: platform)
            try expect("a new publish", within: .seconds(60)) { try WHIPPost.send(to: platform.nodes[2]).hasPrefix("201") }
            platform.stop()
        }

        /// New publishes get 503 and words while the server is away; nothing else is answered than what is documented.
        private func checkRefusal(_ platform: Platform) throws {
            let node = platform.nodes[0]
            #expect(try WHIPPost.send(to: node).hasPrefix("503"))
            #expect(try node.admin("readyz").contains("cluster"))
        }

        /// One process at each node, with a stage of its own for each stream.
        private func publish(on platform: Platform) throws -> [ProgramRun] {
            let made = try platform.nodes[0].makePublishers((0..<Self.streams).map { "outage-\($0)" })
            let runs = try platform.nodes.enumerated().map { index, node in
                let keys = Workspace.temporaryFile(suffix: ".keys")
                let own = made.indices.filter { $0 % platform.nodes.count == index }.map { made[$0].streamKey }
                try own.joined(separator: "\n").write(to: keys, atomically: true, encoding: .utf8)
                return try ProgramRun([
                    try Workspace.program("stagedoor-bench"), "rtmp", node.quickstart.rtmpURL, "--keys", keys.path, "--flv",
                    try Clip.p30.file(), "--seconds", "\(Encoder.untilStopped)",
                ])
            }
            try expect("all live", within: .seconds(60)) {
                try platform.nodes.reduce(0) { $0 + (try $1.live()) } == made.count
            }
            return runs
        }

        /// Nobody was interrupted, as they and the nodes saw it.
        private func check(_ publishers: [ProgramRun], of platform: Platform) throws {
            #expect(platform.nodes.allSatisfy { $0.count(of: "rtmp_publish_ended") == 0 })
            #expect(try platform.nodes.reduce(0) { $0 + (try $1.live()) } == Self.streams)
            for publisher in publishers {
                publisher.send(SIGINT)
                let sent = try publisher.report(Sent.self, within: .seconds(300))
                #expect(sent.endedByServer == 0 && sent.refused == 0 && sent.streams == Self.streams / platform.nodes.count)
            }
        }

        /// What `stagedoor-bench rtmp` reports.
        private struct Sent: Decodable {
            var streams: Int
            var refused: Int
            var endedByServer: Int
        }

        private func checkWrites(_ writer: ProgramRun, of platform: Platform) throws {
            writer.send(SIGTERM)
            let written = try writer.report(Written.self, within: .seconds(300))
            print("writes over the outage: \(written.acknowledged.count) acknowledged, \(written.answers)")
            #expect(Set(written.answers.keys).isSubset(of: ["503 ServiceUnavailableException"]))
            let names = try platform.client("names").report(Names.self, within: .seconds(300))
            #expect(names.isSame)
            #expect(Set(written.acknowledged).isSubset(of: Set(names.names)), "an acknowledged write is lost")
        }

        private struct Written: Decodable {
            var acknowledged: [String]
            var answers: [String: Int]
        }
    }
}
