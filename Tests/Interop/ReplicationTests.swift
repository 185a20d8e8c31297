import Foundation
import Testing

extension Interop {
    /// A publisher of one stage that stands on another one too, as the AWS CLI, a viewer and routers see it.
    @Suite struct Replication {
        /// Two stages of one gateway, and a publisher of the first.
        private struct Stages {
            let gateway: Gateway
            let source: String
            let destination: String
            var participant: String { gateway.quickstart.participantId }

            init(_ gateway: Gateway) throws {
                self.gateway = gateway
                source = try #require(gateway.quickstart.stageArn)
                destination = try makeStage(gateway)
            }

            var pair: [String] {
                ["--source-stage-arn", source, "--destination-stage-arn", destination, "--participant-id", participant]
            }

            func publish() throws -> ProgramRun {
                try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            }

            /// The participant on a stage, in the stage's newest session; nil where it has not been seen there.
            func shown(on stage: String) throws -> [String: Any]? {
                guard let session = try session(of: stage) else { return nil }
                let options = ["--stage-arn", stage, "--session-id", session]
                let found = try answer(gateway, "list-participants", options)["participants"] as? [[String: Any]]
                guard found?.contains(where: { $0["participantId"] as? String == participant }) == true else { return nil }
                return try answer(gateway, "get-participant", options + ["--participant-id", participant])["participant"]
                    as? [String: Any]
            }

            func isConnected(on stage: String) throws -> Bool { try shown(on: stage)?["state"] as? String == "CONNECTED" }

            func session(of stage: String) throws -> String? {
                let sessions = try answer(gateway, "list-stage-sessions", ["--stage-arn", stage])["stageSessions"]
                return (sessions as? [[String: Any]])?.first?["sessionId"] as? String
            }

            func events(on stage: String) throws -> [[String: Any]] {
                guard let session = try session(of: stage) else { return [] }
                let options = ["--stage-arn", stage, "--session-id", session, "--participant-id", participant]
                return try answer(gateway, "list-participant-events", options)["events"] as? [[String: Any]] ?? []
            }

            func names(on stage: String) throws -> [String] { try events(on: stage).compactMap { $0["name"] as? String } }

            func replicas() throws -> [[String: Any]] {
                let options = ["--source-stage-arn", source, "--participant-id", participant]
                return try answer(gateway, "list-participant-replicas", options)["replicas"] as? [[String: Any]] ?? []
            }

            var states: [String] { get throws { try replicas().compactMap { $0["replicationState"] as? String } } }
        }

        @Test(.timeLimit(.minutes(20)))
        func `the AWS CLI replicates a publisher, whom viewers of the other stage see`() throws {
            let stages = try Stages(Gateway(configuration: ControlAPI.openRates))
            let gateway = stages.gateway
            Self.refuses(gateway, "start-participant-replication", stages.pair, "ResourceNotFoundException")
            let encoder = try stages.publish()
            try expect("it publishes", within: .seconds(120)) { try stages.names(on: stages.source).contains("PUBLISH_STARTED") }
            let more = ["--attributes", "seat=7", "--reconnect-window-seconds", "30"]
            let started = try answer(gateway, "start-participant-replication", stages.pair + more)
            #expect(started["accessControlAllowOrigin"] as? String == "*", "the model's header members: \(started)")
            Self.refuses(gateway, "start-participant-replication", stages.pair, "ConflictException")
            let same = ["--source-stage-arn", stages.source, "--destination-stage-arn", stages.source]
            Self.refuses(
                gateway, "start-participant-replication", same + ["--participant-id", stages.participant], "ValidationException")

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

            _ = try gateway.aws("stop-participant-replication", stages.pair)
            Self.refuses(gateway, "stop-participant-replication", stages.pair, "ResourceNotFoundException")
            try expect("it has left", within: .seconds(60)) { try !stages.isConnected(on: stages.destination) }
            #expect(try stages.states == ["STOPPED"])
            #expect(try stages.names(on: stages.source).last == "REPLICATION_STOPPED")
            #expect(try stages.names(on: stages.destination) == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"])
            #expect(try encoder.isRunning && stages.isConnected(on: stages.source))
            encoder.kill()
            gateway.stop()
        }

        /// What the lists and events say while it goes on.
        private func check(_ stages: Stages) throws {
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
        private func watch(_ stages: Stages) throws {
            let gateway = stages.gateway
            let options = ["--stage-arn", stages.destination, "--capabilities", "SUBSCRIBE"]
            let made = try answer(gateway, "create-participant-token", options)["participantToken"] as? [String: Any]
            let (token, viewer) = (try #require(made?["token"] as? String), try #require(made?["participantId"] as? String))
            let id = try #require(stages.destination.split(separator: "/").last)
            let url = try #require(gateway.quickstart.whipURL).replacing(/\/whip$/, with: "/whep/\(id)/\(stages.participant)")
            let run = try ProgramRun([
                "env", "PICTURE=1", WHIP.python, WHIP.script("aiortc_whep.py"), "\(Encoder.untilStopped)", token, url,
            ])
            expect("it sees the replica\n\(run.output)", within: .seconds(240)) { run.output.contains("first picture") }
            let session = try #require(try stages.session(of: stages.destination))
            try expect("it is told so", within: .seconds(60)) {
                let options = ["--stage-arn", stages.destination, "--session-id", session, "--participant-id", viewer]
                let events = try answer(gateway, "list-participant-events", options)["events"] as? [[String: Any]] ?? []
                return events.contains {
                    $0["name"] as? String == "SUBSCRIBE_STARTED" && $0["replica"] as? Bool == true
                        && $0["remoteParticipantId"] as? String == stages.participant
                }
            }
            run.kill()
        }

        @Test(.timeLimit(.minutes(20)))
        func `a publisher that comes back within the window stands on both stages again`() throws {
            let stages = try Stages(Gateway(configuration: ControlAPI.openRates))
            let first = try stages.publish()
            try expect("it publishes", within: .seconds(120)) { try stages.names(on: stages.source).contains("PUBLISH_STARTED") }
            _ = try stages.gateway.aws("start-participant-replication", stages.pair + ["--reconnect-window-seconds", "300"])
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

            let third = try makeStage(stages.gateway)
            let pair = ["--source-stage-arn", stages.source, "--destination-stage-arn", third]
            _ = try stages.gateway.aws("start-participant-replication", pair + ["--participant-id", stages.participant])
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
            let stages = try Stages(Gateway(configuration: ControlAPI.openRates, routers: router.settings("a")))
            let encoder = try stages.publish()
            try expect("it publishes", within: .seconds(120)) { try stages.names(on: stages.source).contains("PUBLISH_STARTED") }
            _ = try stages.gateway.aws("start-participant-replication", stages.pair)
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
            _ = try stages.gateway.aws("stop-participant-replication", stages.pair)
            try expect("the source is left", within: .seconds(60)) {
                try router.participants().values.compactMap(\.stageArn) == [stages.source]
            }
            #expect(encoder.isRunning)
            encoder.kill()
            stages.gateway.stop()
        }

        // MARK: -

        private static func refuses(
            _ gateway: Gateway, _ operation: String, _ options: [String], _ name: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            do {
                let told = try gateway.aws(operation, options)
                Issue.record("not refused: \(told)", sourceLocation: sourceLocation)
            } catch {
                #expect("\(error)".contains(name), "\(error)", sourceLocation: sourceLocation)
            }
        }
    }
}

private func answer(_ gateway: Gateway, _ operation: String, _ options: [String]) throws -> [String: Any] {
    let text = try gateway.aws(operation, options)
    return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
}

private func makeStage(_ gateway: Gateway) throws -> String {
    let made = try answer(gateway, "create-stage", ["--name", "other"])["stage"] as? [String: Any]
    return try #require(made?["arn"] as? String)
}
