import Foundation
import TestSupport
import Testing

extension UnderLoad {
    /// What a node's death costs its encoders, and what must not look like one (docs/design.md 7.4).
    @Suite struct NodeDeaths {
        /// Processes begin with a grace in which they take nothing of others.
        private static let grace = Duration.seconds(16)

        @Test(.timeLimit(.minutes(10)))
        func `nobody is taken for dead, and who dies is missed no longer than it has to be`() throws {
            let platform = try Platform(2)
            let publishers = try platform.nodes[0].makePublishers((0..<4).map { "death-\($0)" })
            let encoders = try publishers.enumerated().map { try publish($1, at: platform.nodes[$0 % 2]) }
            expect("all live", within: .seconds(60)) { granted(platform) == 4 }
            letPass(Self.grace)

            let keys = [publishers[0], publishers[2]]
            kill(platform.nodes[0].pid, SIGSTOP)
            try seeNoDeath(of: platform, keys) {
                letPass(.seconds(2))
                kill(platform.nodes[0].pid, SIGCONT)
            }
            platform.redis.pause()
            try seeNoDeath(of: platform, keys) {
                letPass(.seconds(3))
                platform.redis.resume()
            }
            #expect(encoders.allSatisfy { $0.isRunning })

            // Nobody takes anything of others right after a silence.
            letPass(Self.grace)
            let returns = try seeReturns(of: keys, from: platform.nodes[0], to: platform.nodes[1])
            print("encoders were back elsewhere \(returns.absences) after their node's death")
            // Who takes a lease that has not ended is as old as that was.
            for key in keys {
                let lease = try lease(of: key, platform)
                #expect(lease.since < lease.generation && lease.node == "b")
            }
            for encoder in encoders + returns.runs { encoder.kill() }
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `of the encoders of nodes that were killed 95 in 100 are back elsewhere within 5 s`() throws {
            let platform = try Platform(4)
            var absences: [Duration] = []
            for node in 0..<3 {
                let publishers = try platform.nodes[node].makePublishers((0..<10).map { "node-\(node)-\($0)" })
                let encoders = try publishers.map { try publish($0, at: platform.nodes[node]) }
                expect("all live", within: .seconds(60)) { platform.nodes[node].count(of: "rtmp_publish_granted") == 10 }
                letPass(Self.grace)
                let returns = try seeReturns(of: publishers, from: platform.nodes[node], to: platform.nodes[3])
                absences += returns.absences
                for encoder in encoders + returns.runs { encoder.kill() }
            }
            absences.sort()
            print("\(absences.count) encoders were back elsewhere after \(absences.map { "\($0)" }.joined(separator: ", "))")
            #expect(absences[absences.count * 95 / 100] <= .seconds(5))
            platform.stop()
        }

        /// Second encoders with the same keys come to the other node while something stands still, and go again.
        private func seeNoDeath(of platform: Platform, _ publishers: [Publisher], while happens: () throws -> Void) throws {
            let before = granted(platform)
            let rivals = try publishers.map { try publish($0, at: platform.nodes[1]) }
            try happens()
            expect("the rivals are refused", within: .seconds(60)) { !rivals.contains(where: \.isRunning) }
            #expect(granted(platform) == before)
            #expect(platform.nodes.allSatisfy { $0.count(of: "rtmp_publish_ended") == 0 })
        }

        private func granted(_ platform: Platform) -> Int {
            platform.nodes.reduce(0) { $0 + $1.count(of: "rtmp_publish_granted") }
        }

        /// What the servers know of who publishes.
        private struct Lease: Decodable {
            var node: String
            var generation: UInt64
            var since: UInt64
        }

        private func lease(of publisher: Publisher, _ platform: Platform) throws -> Lease {
            let stage = try #require(publisher.stageArn.split(separator: "/").last)
            let text = try platform.redis.ask("HGET", "sd:{\(stage)}:leases", publisher.rtmpParticipantId)
            return try JSONDecoder().decode(Lease.self, from: Data(text.utf8))
        }

        /// Kills a node, whose encoders try another one twice a second until they are live.
        /// - Returns: after how long each was, the shortest first, and the encoders.
        private func seeReturns(
            of publishers: [Publisher], from node: Gateway, to other: Gateway
        ) throws -> (absences: [Duration], runs: [ProgramRun]) {
            node.kill()
            let died = ContinuousClock.now
            var runs = try publishers.map { try publish($0, at: other) }
            var tried = publishers.map { _ in ContinuousClock.now }
            var absences: [String: Duration] = [:]
            try expect("live again\n\(other.log.suffix(2_000))", within: .seconds(60)) {
                let live = Set(other.logged("rtmp_publish_granted").compactMap(\.participant))
                for (index, publisher) in publishers.enumerated() where absences[publisher.rtmpParticipantId] == nil {
                    let now = ContinuousClock.now
                    if live.contains(publisher.rtmpParticipantId) {
                        absences[publisher.rtmpParticipantId] = now - died
                    } else if !runs[index].isRunning, now - tried[index] >= .milliseconds(500) {
                        (runs[index], tried[index]) = (try publish(publisher, at: other), now)
                    }
                }
                return absences.count == publishers.count
            }
            return (absences.values.sorted(), runs)
        }

        private func publish(_ publisher: Publisher, at node: Gateway) throws -> ProgramRun {
            try Encoder.ffmpeg(.p30, to: "\(node.quickstart.rtmpURL)/\(publisher.streamKey)", seconds: Encoder.untilStopped)
        }
    }
}
