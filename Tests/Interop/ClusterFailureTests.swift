import Foundation
import Testing

extension Interop {
    /// Nodes that die, or go in turn.
    @Suite struct ClusterFailure {
        @Test(.timeLimit(.minutes(10)))
        func `of one key at two nodes one wins, and the encoder of a node that died comes back elsewhere`() throws {
            let platform = try Platform()
            let publisher = try #require(try platform.nodes[0].makePublishers(["one"]).first)
            let encoders = try [0, 1].map { node in
                try publish(publisher, at: platform.nodes[node])
            }
            expect("one is refused", within: .seconds(60)) { encoders.count(where: \.isRunning) == 1 }
            let granted = platform.nodes.map {
                $0.logged("rtmp_publish_granted").count { $0.participant == publisher.rtmpParticipantId }
            }
            #expect(granted.reduce(0, +) == 1, "\(granted)")
            let owner = try #require(granted.firstIndex(of: 1))
            #expect(encoders[1 - owner].output.contains("SD-"), "\(encoders[1 - owner].output)")
            try expect("the platform knows that it began", within: .seconds(60)) {
                try told(platform, publisher).participants[publisher.rtmpParticipantId]?.count("PUBLISH_STARTED") == 1
            }

            platform.nodes[owner].kill()
            let died = ContinuousClock.now
            let other = platform.nodes[2]
            let back = try retry(publisher, at: other)
            let waited = ContinuousClock.now - died
            print("an encoder came back at another node after \(waited)")
            // A lease of 10 s, and time to start an encoder.
            if Platform.isWhole { #expect(waited < .seconds(15)) }

            letPass(.seconds(12) - min(.seconds(12), ContinuousClock.now - died))
            try expect("it has stopped once, and begun again", within: .seconds(60)) {
                let living = try told(platform, publisher)
                let participant = living.participants[publisher.rtmpParticipantId]
                return living.isSame && participant?.state == "CONNECTED" && participant?.count("PUBLISH_STARTED") == 2
                    && participant?.count("PUBLISH_STOPPED") == 1
            }
            back.interrupt()
            try expect("the end is told", within: .seconds(60)) {
                let now = try told(platform, publisher).participants[publisher.rtmpParticipantId]
                return now?.state == "DISCONNECTED" && now?.count("PUBLISH_STOPPED") == 2
            }
            try expect("the stream of events says the same at each node that lives", within: .seconds(60)) {
                let told = try platform.nodes.filter(\.isRunning).map { node in
                    try node.events().filter { $0.participant == publisher.rtmpParticipantId }
                        .map { "\($0.time ?? "") \($0.name)" }
                }
                return told[0].count >= 4 && told.allSatisfy { $0 == told[0] }
            }
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Platform.reason))
        func `nobody stays on a stage whose node died`() throws {
            let platform = try Platform(2)
            let publishers = try platform.nodes[0].makePublishers(["one", "two"])
            let encoders = try publishers.map {
                try publish($0, at: platform.nodes[1])
            }
            try expect("both have begun", within: .seconds(60)) {
                try publishers.allSatisfy {
                    try told(platform, $0).participants[$0.rtmpParticipantId]?.count("PUBLISH_STARTED") == 1
                }
            }
            platform.nodes[1].kill()
            let died = ContinuousClock.now
            try expect("they have left", within: .seconds(60)) {
                try publishers.allSatisfy {
                    let participant = try told(platform, $0).participants[$0.rtmpParticipantId]
                    return participant?.state == "DISCONNECTED" && participant?.count("PUBLISH_STOPPED") == 1
                }
            }
            print("two participants of a node that died had left after \(ContinuousClock.now - died)")
            for encoder in encoders { encoder.kill() }
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `nodes are replaced in turn, and each publisher is interrupted once at most`() throws {
            let drain = "drain: {grace: 0s, timeout: 1s, closesPerSecond: 100}"
            let platform = try Platform(extra: drain)
            let count = Platform.isWhole ? 20 : 2
            let publishers = try platform.nodes[0].makePublishers((0..<(3 * count)).map { "rolling-\($0)" })
            // Each begins at a node of its own, and as a user's encoder goes on to the next when its connection ends.
            var encoders = try publishers.enumerated().map { index, publisher in
                Roamer(publisher: publisher, node: index % 3, run: try publish(publisher, at: platform.nodes[index % 3]))
            }
            expect("all live", within: .seconds(60)) { (try? live(platform)) == publishers.count }
            // The new one comes before an old one goes, and the balancer prefers those that are new.
            try platform.add()
            for node in 0..<3 {
                platform.nodes[node].stop()
                let newest = node == 0 ? 3 : node - 1
                for index in encoders.indices where encoders[index].node == node {
                    expect("its connection ends", within: .seconds(60)) { !encoders[index].run.isRunning }
                    encoders[index].interruptions += 1
                    encoders[index].node = newest
                    encoders[index].run = try retry(encoders[index].publisher, at: platform.nodes[newest])
                }
                if node < 2 { try platform.restart(node) }
            }
            #expect(encoders.allSatisfy { $0.run.isRunning })
            #expect(encoders.map(\.interruptions).max() == 1)
            for encoder in encoders { encoder.run.kill() }
            platform.stop()
        }

        private struct Roamer {
            var publisher: Publisher
            var node: Int
            var run: ProgramRun
            var interruptions = 0
        }

        private func live(_ platform: Platform) throws -> Int { try platform.nodes.reduce(0) { $0 + (try $1.live()) } }

        private func publish(_ publisher: Publisher, at node: Gateway) throws -> ProgramRun {
            try Encoder.ffmpeg(.p30, to: "\(node.quickstart.rtmpURL)/\(publisher.streamKey)", seconds: Encoder.untilStopped)
        }

        /// Tries twice a second, as encoders do that reconnect, until the publish is live.
        private func retry(_ publisher: Publisher, at node: Gateway) throws -> ProgramRun {
            let before = node.logged("rtmp_publish_granted").count { $0.participant == publisher.rtmpParticipantId }
            var run = try publish(publisher, at: node)
            try expect("live again\n\(node.log.suffix(2_000))", within: .seconds(60)) {
                if node.logged("rtmp_publish_granted").count(where: { $0.participant == publisher.rtmpParticipantId }) > before {
                    return true
                }
                if !run.isRunning {
                    letPass(.milliseconds(500))
                    run = try publish(publisher, at: node)
                }
                return false
            }
            return run
        }

        private func told(_ platform: Platform, _ publisher: Publisher) throws -> Told {
            try platform.client("events", [publisher.stageArn]).report(Told.self, within: .seconds(300))
        }
    }
}
