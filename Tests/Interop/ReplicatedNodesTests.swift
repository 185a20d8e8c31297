import Foundation
import Testing

extension Interop {
    /// Replication over two nodes of one platform: whichever is asked, and whichever dies.
    @Suite struct ReplicatedNodes {
        /// Two nodes of embedded routers that share two stage routers.
        private struct TwoNodes {
            let routers: [StageRouter]
            let platform: Platform
            /// The publisher's stages, asked of either node.
            let here, there: ReplicatedStages

            init() throws {
                routers = try [StageRouter(), StageRouter()]
                let settings = "  embedded: {driver: embedded}\n" + routers[0].settings("one") + routers[1].settings("two")
                platform = try Platform(2, routers: [settings, settings])
                here = try ReplicatedStages(platform.nodes[0])
                there = here.at(platform.nodes[1])
            }

            /// What the routers have of the publisher, by stage: pictures, whole and from a keyframe on.
            func forwarded() throws -> [String: StageRouter.Participant] {
                let all = try routers.flatMap { try $0.participants().values }
                return Dictionary(all.compactMap { each in each.stageArn.map { ($0, each) } }) { $1 }
            }

            func expectForwarded(to stages: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
                var known: [String: StageRouter.Participant] = [:]
                try expect("the routers of \(stages.count) stages", within: .seconds(120), sourceLocation: sourceLocation) {
                    known = try forwarded()
                    return Set(known.keys) == Set(stages) && known.values.allSatisfy { $0.pictures > 30 }
                }
                for each in known.values {
                    #expect(
                        each.tracks.allSatisfy(\.isWhole) && each.foreign == 0 && each.firstUnits.contains(5), "\(each)",
                        sourceLocation: sourceLocation)
                }
            }

            /// aiortc decodes the publisher on each of the stages, from the node where it publishes.
            func expectDecoded(_ stages: ReplicatedStages, on each: [String], sourceLocation: SourceLocation = #_sourceLocation)
                throws
            {
                for stage in each {
                    let run = try stages.watch(stage).run
                    expect("a picture\n\(run.output)", within: .seconds(240), sourceLocation: sourceLocation) {
                        run.output.contains("first picture")
                    }
                    run.kill()
                }
            }
        }

        @Test(.timeLimit(.minutes(20)))
        func `either node starts a replica, tells of it, and disconnects either side`() throws {
            let nodes = try TwoNodes()
            let (here, there) = (nodes.here, nodes.there)
            let other = try here.another()
            let encoder = try here.publish()
            try there.start()
            try other.start()
            let stages = [here.source, here.destination, other.destination]
            try nodes.expectForwarded(to: stages)
            try nodes.expectDecoded(here, on: stages)
            for stage in stages[1...] {
                for node in [here, there] {
                    try expect("the source's event", within: .seconds(60)) {
                        try node.events(on: here.source).contains {
                            $0["name"] as? String == "REPLICATION_STARTED" && $0["destinationStageArn"] as? String == stage
                        }
                    }
                    let events = try node.events(on: stage)
                    #expect(events.map { $0["name"] as? String } == ["JOINED", "PUBLISH_STARTED"])
                    #expect(events.allSatisfy { $0["replica"] as? Bool == true }, "\(events)")
                    #expect(try node.states == ["ACTIVE", "ACTIVE"])
                }
            }

            _ = try there.gateway.aws(
                "disconnect-participant", ["--stage-arn", there.destination, "--participant-id", there.participant])
            try expect("one is over", within: .seconds(60)) { try here.states.sorted() == ["ACTIVE", "STOPPED"] }
            try expect("its stage is left", within: .seconds(60)) { try Set(nodes.forwarded().keys) == [stages[0], stages[2]] }
            try expect("its source says so", within: .seconds(60)) {
                try here.names(on: here.source).last == "REPLICATION_STOPPED"
            }
            #expect(try encoder.isRunning && there.isConnected(on: here.source))

            _ = try there.gateway.aws(
                "disconnect-participant", ["--stage-arn", there.source, "--participant-id", there.participant])
            #expect(encoder.status(within: .seconds(60)) != nil, "it is cut off")
            try expect("both are over", within: .seconds(60)) { try there.states == ["STOPPED", "STOPPED"] }
            try expect("all stages are left", within: .seconds(60)) { try nodes.forwarded().isEmpty }
            for stage in stages[1...] {
                try expect("its end is told", within: .seconds(60)) {
                    try here.names(on: stage) == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"]
                }
            }
            nodes.platform.stop()
        }

        @Test(.timeLimit(.minutes(20)))
        func `a replica goes on when its node dies and the encoder is back at another one within the window`() throws {
            let nodes = try TwoNodes()
            let (here, there) = (nodes.here, nodes.there)
            let first = try here.publish()
            try there.start(["--reconnect-window-seconds", "300"])
            try nodes.expectForwarded(to: [here.source, here.destination])
            let before = try nodes.forwarded()
            let session = try here.session(of: here.destination)

            nodes.platform.nodes[0].kill()
            first.kill()
            try expect("its leases end", within: .seconds(120)) {
                try !there.isConnected(on: there.source) && !there.isConnected(on: there.destination)
            }
            let encoder = try there.publish()
            try expect("both stages have it\n\(there.gateway.log.suffix(3_000))", within: .seconds(120)) {
                let after = try nodes.forwarded()
                return after.count == 2 && after.allSatisfy { $0.value.generation > before[$0.key]?.generation ?? 0 }
            }
            try nodes.expectForwarded(to: [here.source, here.destination])
            try nodes.expectDecoded(there, on: [here.source, here.destination])
            #expect(try there.states == ["ACTIVE"])
            #expect(try there.session(of: there.destination) == session)
            let told = try there.names(on: there.destination)
            #expect(
                told == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT", "JOINED", "PUBLISH_STARTED"], "\(told)")
            #expect(try there.names(on: there.source).filter { $0.hasPrefix("REPLICATION_") } == ["REPLICATION_STARTED"])

            encoder.kill()
            try there.stop()
            #expect(try there.states == ["STOPPED"])
            nodes.platform.nodes[1].stop()
        }
    }
}
