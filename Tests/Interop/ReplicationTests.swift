import Foundation
import Testing

extension Interop {
    /// A publisher of one stage that stands on another one too, as the AWS CLI, a viewer and routers see it.
    @Suite struct Replication {
        @Test(.timeLimit(.minutes(20)))
        func `the AWS CLI replicates a publisher, whom viewers of the other stage see`() throws {
            let stages = try ReplicatedStages(Gateway(configuration: ControlAPI.openRates))
            let gateway = stages.gateway
            gateway.refuses("start-participant-replication", stages.pair, "ResourceNotFoundException")
            let encoder = try stages.publish()
            let more = ["--attributes", "seat=7", "--reconnect-window-seconds", "30"]
            let started = try gateway.answer("start-participant-replication", stages.pair + more)
            #expect(started["accessControlAllowOrigin"] as? String == "*", "the model's header members: \(started)")
            gateway.refuses("start-participant-replication", stages.pair, "ConflictException")
            let same = ["--source-stage-arn", stages.source, "--destination-stage-arn", stages.source]
            gateway.refuses(
                "start-participant-replication", same + ["--participant-id", stages.participant], "ValidationException")

            let replica = try #require(try stages.shown(on: stages.destination))
            #expect(replica["replicationType"] as? String == "REPLICA" && replica["replicationState"] as? String == "ACTIVE")
            #expect(replica["state"] as? String == "CONNECTED" && replica["published"] as? Bool == true)
            #expect(replica["sourceStageArn"] as? String == stages.source)
            #expect(try replica["sourceSessionId"] as? String == stages.session(of: stages.source))
            #expect((replica["attributes"] as? [String: String])?["seat"] == "7")
            let source = try #require(try stages.shown(on: stages.source))
            #expect(source["replicationType"] as? String == "SOURCE" && source["replicationState"] as? String == "ACTIVE")
            try check(stages)
            try watch(stages)

            try stages.stop()
            gateway.refuses("stop-participant-replication", stages.pair, "ResourceNotFoundException")
            try expect("it has left", within: .seconds(60)) { try !stages.isConnected(on: stages.destination) }
            #expect(try stages.states == ["STOPPED"])
            #expect(try stages.names(on: stages.source).last == "REPLICATION_STOPPED")
            #expect(try stages.names(on: stages.destination) == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"])
            #expect(try encoder.isRunning && stages.isConnected(on: stages.source))
            encoder.kill()
            gateway.stop()
        }

        /// What the lists and events say while it goes on.
        private func check(_ stages: ReplicatedStages) throws {
            let replicas = try stages.replicas()
            #expect(replicas.count == 1 && replicas.first?["replicationState"] as? String == "ACTIVE", "\(replicas)")
            let sessions = (try stages.session(of: stages.source), try stages.session(of: stages.destination))
            #expect(replicas.first?["sourceSessionId"] as? String == sessions.0)
            #expect(replicas.first?["destinationSessionId"] as? String == sessions.1)
            try expect("the source's event", within: .seconds(60)) {
                let event = try stages.events(on: stages.source).first { $0["name"] as? String == "REPLICATION_STARTED" }
                return event?["destinationStageArn"] as? String == stages.destination
                    && event?["destinationSessionId"] as? String == sessions.1
            }
            let events = try stages.events(on: stages.destination)
            #expect(events.allSatisfy { $0["replica"] as? Bool == true }, "\(events)")
            #expect(try stages.events(on: stages.source).allSatisfy { $0["replica"] == nil })
            #expect(try stages.gateway.metrics().sum("stagedoor_publish_attempts_total", "result=\"granted\"") == 1)
        }

        /// aiortc decodes pictures of the replica by a token of the other stage.
        private func watch(_ stages: ReplicatedStages) throws {
            let (run, viewer) = try stages.watch(stages.destination)
            expect("it sees the replica\n\(run.output)", within: .seconds(240)) { run.output.contains("first picture") }
            let session = try #require(try stages.session(of: stages.destination))
            try expect("it is told so", within: .seconds(60)) {
                let options = ["--stage-arn", stages.destination, "--session-id", session, "--participant-id", viewer]
                let events = try stages.gateway.answer("list-participant-events", options)["events"] as? [[String: Any]] ?? []
                return events.contains {
                    $0["name"] as? String == "SUBSCRIBE_STARTED" && $0["replica"] as? Bool == true
                        && $0["remoteParticipantId"] as? String == stages.participant
                }
            }
            run.kill()
        }

        @Test(.timeLimit(.minutes(20)))
        func `a publisher that comes back within the window stands on both stages again`() throws {
            let stages = try ReplicatedStages(Gateway(configuration: ControlAPI.openRates))
            let first = try stages.publish()
            try stages.start(["--reconnect-window-seconds", "300"])
            let session = try stages.session(of: stages.destination)
            first.kill()
            try expect("both have left", within: .seconds(120)) {
                try !stages.isConnected(on: stages.source) && !stages.isConnected(on: stages.destination)
            }
            #expect(try stages.states == ["ACTIVE"])
            let second = try stages.publish()
            try expect("both are back", within: .seconds(120)) {
                try stages.isConnected(on: stages.source) && stages.isConnected(on: stages.destination)
            }
            #expect(try stages.session(of: stages.destination) == session)
            #expect(
                try stages.names(on: stages.destination) == [
                    "JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT", "JOINED", "PUBLISH_STARTED",
                ])
            _ = try stages.gateway.aws("delete-stage", ["--arn", stages.destination])
            try expect("it stops with the stage", within: .seconds(60)) { try stages.states == ["STOPPED"] }
            #expect(try second.isRunning && stages.isConnected(on: stages.source))

            try stages.another().start()
            second.kill()
            try expect("without a window it ends with its source", within: .seconds(120)) {
                try stages.states == ["STOPPED", "STOPPED"]
            }
            stages.gateway.stop()
        }

        /// Both stages' routers get the media whole, each by its own announce.
        @Test(.timeLimit(.minutes(10)))
        func `two stages' routers get one publisher's media`() throws {
            let router = try StageRouter()
            let stages = try ReplicatedStages(Gateway(configuration: ControlAPI.openRates, routers: router.settings("a")))
            let encoder = try stages.publish()
            try stages.start()
            var known: [String: StageRouter.Participant] = [:]
            try expect("pictures on both", within: .seconds(120)) {
                known = try router.participants()
                return known.count == 2 && known.values.allSatisfy { $0.pictures > 30 }
            }
            #expect(Set(known.values.compactMap(\.stageArn)) == [stages.source, stages.destination])
            for participant in known.values {
                #expect(participant.tracks.count == 2 && participant.tracks.allSatisfy(\.isWhole), "\(participant)")
                #expect(participant.foreign == 0 && participant.firstUnits.contains(5), "it begins with an IDR picture")
            }
            try stages.stop()
            try expect("the source is left", within: .seconds(60)) {
                try router.participants().values.compactMap(\.stageArn) == [stages.source]
            }
            #expect(encoder.isRunning)
            encoder.kill()
            stages.gateway.stop()
        }
    }
}
