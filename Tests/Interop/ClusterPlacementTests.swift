import Foundation
import TestSupport
import Testing

extension Interop {
    /// Nodes that share stage routers keep each stage whole: one record says where it is (docs/design.md 6.4).
    @Suite struct ClusterPlacement {
        @Test(.timeLimit(.minutes(10)))
        func `a stage of two nodes is at one router, and moves whole when that one dies`() throws {
            let routers = try [StageRouter(), StageRouter()]
            let settings = routers[0].settings("one") + routers[1].settings("two")
            let platform = try Platform(2, routers: [settings, settings])
            let stages = try platform.nodes[0].makeStages(6)
            // Both nodes place all stages in the same moment.
            let encoders = try [0, 1].map { node in try publish(stages.map { $0[node] }, at: platform.nodes[node]) }
            try expect("all are announced", within: .seconds(60)) {
                try routers.reduce(0) { try $0 + $1.participants().count } == 12
            }
            letPass(.seconds(1))
            let before = try routers.map { try $0.participants() }
            for router in before {
                #expect(
                    Dictionary(grouping: router.values, by: \.stageArn).allSatisfy { $0.value.count == 2 }, "a stage is split")
            }
            let dies = before[0].count >= before[1].count ? 0 : 1
            let records = try platform.placements()
            routers[dies].kill()
            let died = ContinuousClock.now
            let living = routers[1 - dies]
            try expect("all are at the other", within: .seconds(60)) { try living.participants().count == 12 }
            print("of 6 stages of two nodes \(before[dies].count / 2) moved in \(ContinuousClock.now - died)")
            var after: [String: StageRouter.Participant] = [:]
            try expect("pictures of all", within: .seconds(60)) {
                after = try living.participants()
                return after.count == 12 && after.values.allSatisfy { $0.pictures > 20 }
            }
            let moved = try platform.placements()
            #expect(moved.count == 6 && moved.values.allSatisfy { $0.router == ["one", "two"][1 - dies] }, "\(moved)")
            for (stage, participants) in Dictionary(grouping: after, by: \.value.stageArn) {
                let id = String(try #require(stage).split(separator: "/").last ?? "")
                let (old, new) = (try #require(records[id]), try #require(moved[id]))
                let hasMoved = before[dies][participants[0].key] != nil
                #expect(new.version == old.version + (hasMoved ? 1 : 0), "one of the nodes moves it, once")
                #expect(hasMoved ? new.generation > old.generation : new == old)
                for (name, participant) in participants {
                    let former = (before[0][name] ?? before[1][name])?.generation
                    #expect(participant.generation == (hasMoved ? new.generation : former), "\(participant)")
                    #expect(participant.tracks.allSatisfy(\.isWhole) && !participant.saidBye)
                }
            }
            #expect(encoders.allSatisfy(\.isRunning) && platform.nodes.allSatisfy { $0.count(of: "rtmp_publish_ended") == 0 })
            for encoder in encoders { encoder.kill() }
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a node that alone cannot reach a router leaves its stages there, and refuses in words`() throws {
            let routers = try [StageRouter(), StageRouter(port: Int(FreePorts.tcp()))]
            let way = try Way(to: routers[0].port)
            let second = routers[1].settings("two")
            routers[1].kill()
            let platform = try Platform(
                2, routers: [routers[0].settings("one", proxy: way.port) + second, routers[0].settings("one") + second])
            let (alone, other) = (platform.nodes[0], platform.nodes[1])
            let keys = try #require(try alone.makeStages(1).first)
            let first = try publish([keys[0]], at: other)
            try expect("it is at the only router", within: .seconds(60)) { try routers[0].participants().count == 1 }
            let record = try platform.placements()
            let free = try StageRouter(port: routers[1].port)

            way.stop()
            expect("it knows", within: .seconds(60)) { alone.log.contains("\"routers_out_of_reach\",\"routers\":[\"one\"]") }
            let refused = try publish([keys[1]], at: alone)
            expect("the publish is refused in words", within: .seconds(60)) {
                alone.log.contains("This gateway cannot reach the stage's router")
            }
            refused.kill()
            let taken = try publish([keys[1]], at: other)
            try expect("the other node takes it", within: .seconds(60)) { try routers[0].participants().count == 2 }
            #expect(try platform.placements() == record && free.participants().isEmpty)
            taken.kill()

            way.goOn()
            expect("it is in reach again", within: .seconds(60)) { alone.log.contains("\"routers_out_of_reach\",\"routers\":[]") }
            try expect("the former publish is over", within: .seconds(60)) { try routers[0].participants().count == 1 }
            let again = try publish([keys[1]], at: alone)
            try expect("it is taken, at the same router", within: .seconds(60)) { try routers[0].participants().count == 2 }
            #expect(try platform.placements() == record && free.participants().isEmpty && first.isRunning)
            again.kill()
            platform.stop()
        }

        private func publish(_ keys: [String], at node: Gateway) throws -> ProgramRun {
            let file = Workspace.temporaryFile(suffix: ".keys")
            try keys.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            return try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", node.quickstart.rtmpURL, "--keys", file.path, "--flv",
                try Clip.p30.file(), "--seconds", "\(Encoder.untilStopped)",
            ])
        }

        /// One node's way to a router's HTTP, which can be cut while the router lives.
        private final class Way {
            let port: Int
            private let run: ProgramRun

            init(to port: Int) throws {
                let script = Workspace.package.appending(path: "Tests/Interop/Clients/proxy.py").path
                let run = try ProgramRun(["/usr/bin/python3", script, "\(port)"])
                expect("the proxy listens", within: .seconds(60)) { run.output.contains("\n") }
                self.run = run
                self.port = try #require(Int(run.output.prefix { $0.isNumber }))
            }

            func stop() { run.send(SIGSTOP) }
            func goOn() { run.send(SIGCONT) }
        }
    }
}

/// Where a stage is, as the shared record says.
private struct PlacementRecord: Decodable, Equatable {
    var router: String
    var generation: Int
    /// 1 when it was made, and one more for each move.
    var version = 0

    private enum CodingKeys: String, CodingKey { case router, generation }
}

extension Platform {
    /// By stage.
    fileprivate func placements() throws -> [String: PlacementRecord] {
        var records: [String: PlacementRecord] = [:]
        for key in try redis.ask("KEYS", "sd:*:placement:0").split(separator: "\n").map(String.init) {
            let stage = try #require(key.firstMatch(of: /\{(.*)\}/)).1
            var record = try JSONDecoder().decode(PlacementRecord.self, from: Data(try redis.ask("HGET", key, "d").utf8))
            record.version = try #require(Int(try redis.ask("HGET", key, "v")))
            records[String(stage)] = record
        }
        return records
    }
}

extension Gateway {
    /// Stream keys of new stages, two for each.
    fileprivate func makeStages(_ count: Int) throws -> [[String]] {
        let file = try makeStreamKeys(stages: count, each: 2)
        let keys = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        return stride(from: 0, to: keys.count, by: 2).map { [keys[$0], keys[$0 + 1]] }
    }
}
