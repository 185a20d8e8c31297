import Foundation
import Testing

extension Interop {
    /// Those who watch by WHEP, as the AWS CLI sees them.
    @Suite struct Viewers {
        /// aiortc watches twice, Chromium by the watch page.
        @Test(.timeLimit(.minutes(20)))
        func `viewers are participants, with their events, whom filters find`() throws {
            let gateway = try Gateway()
            let (stage, publisher) = (try #require(gateway.quickstart.stageArn), gateway.quickstart.participantId)
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: 540)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let token = try Self.token(gateway, stage, userID: "ann")
            let viewer = try Self.watch(gateway, token.secret, [publisher], seconds: 300)
            let browser = try Self.openPage(gateway)
            var session = ""
            try expect("the viewer is there", within: .seconds(240)) {
                session = try Self.session(gateway, stage) ?? ""
                return try Self.participants(gateway, stage, session, ["--filter-by-user-id", "ann"]) == [token.participant]
            }
            let shown = try Self.participant(gateway, stage, session, token.participant)
            #expect(shown["state"] as? String == "CONNECTED" && shown["published"] as? Bool == false)
            #expect(shown["protocol"] as? String == "UNKNOWN" && (shown["attributes"] as? [String: String]) == ["seat": "7"])
            try expect("the page's viewer too", within: .seconds(240)) {
                try Self.participants(gateway, stage, session, ["--no-filter-by-published"]).count == 2
            }
            #expect(try Self.participants(gateway, stage, session, ["--filter-by-published"]) == [publisher])
            let others = try Self.participants(gateway, stage, session, ["--no-filter-by-published"])
            let page = try #require(others.first { $0 != token.participant })
            #expect((try Self.participant(gateway, stage, session, page)["browserName"] as? String) == "Chrome")

            let nobody = try Self.watch(gateway, token.secret, ["nobody"], seconds: 0)
            _ = nobody.status(within: .seconds(240))
            #expect(nobody.output.contains("POST 0 409"), "\(nobody.output)")
            viewer.kill()
            browser.kill()
            try expect("the viewer has left", within: .seconds(240)) {
                try Self.participants(gateway, stage, session, ["--filter-by-state", "DISCONNECTED"]).contains(token.participant)
            }
            let events = try Self.events(gateway, stage, session, token.participant)
            #expect(
                events == [
                    "JOINED", "SUBSCRIBE_STARTED \(publisher)", "SUBSCRIBE_ERROR nobody PUBLISHER_NOT_FOUND",
                    "SUBSCRIBE_STOPPED \(publisher)", "LEFT",
                ], "\(viewer.output)\n\(gateway.log.suffix(4_000))")
            encoder.kill()
            gateway.stop()
        }

        /// Each connects, watches for a moment and leaves; some are refused, because the stage has fewer places.
        @Test(.timeLimit(.minutes(20)))
        func `a crowd of short viewers is told whole, and a stage's places are few`() throws {
            let gateway = try Gateway(configuration: "embedded: {subscribersPerStage: 3}")
            let (stage, publisher) = (try #require(gateway.quickstart.stageArn), gateway.quickstart.participantId)
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: 540)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            var crowd: [String] = []
            for _ in 0..<3 {
                let tokens = try (0..<3).map { _ in try Self.token(gateway, stage, userID: "crowd") }
                let viewers = try tokens.map { try Self.watch(gateway, $0.secret, [publisher], seconds: 1) }
                for viewer in viewers { #expect(viewer.status(within: .seconds(240)) == 0, "\(viewer.output)") }
                crowd += tokens.map(\.participant)
            }
            let session = try #require(try Self.session(gateway, stage))
            try expect("all have left", within: .seconds(60)) {
                let filter = ["--filter-by-state", "DISCONNECTED"]
                return try Set(Self.participants(gateway, stage, session, filter)) == Set(crowd)
            }
            #expect(try Set(Self.participants(gateway, stage, session, ["--filter-by-user-id", "crowd"])) == Set(crowd))
            let (started, stopped) = ("SUBSCRIBE_STARTED \(publisher)", "SUBSCRIBE_STOPPED \(publisher)")
            #expect(try Self.events(gateway, stage, session, crowd[4]) == ["JOINED", started, stopped, "LEFT"])

            let full = try (0..<3).map { _ in try Self.token(gateway, stage, userID: "stays") }
            let staying = try full.map { try Self.watch(gateway, $0.secret, [publisher], seconds: 300) }
            expect("the stage is full", within: .seconds(240)) {
                staying.allSatisfy { $0.output.contains("first picture") }
            }
            let late = try Self.token(gateway, stage, userID: "late")
            let refused = try Self.watch(gateway, late.secret, [publisher], seconds: 0)
            _ = refused.status(within: .seconds(240))
            #expect(refused.output.contains("POST 0 503") && refused.output.contains("SD-1141"), "\(refused.output)")
            try expect("its error", within: .seconds(60)) {
                try Self.events(gateway, stage, session, late.participant) == ["SUBSCRIBE_ERROR \(publisher) QUOTA_EXCEEDED"]
            }
            for viewer in staying { viewer.kill() }
            encoder.kill()
            gateway.stop()
        }

        // MARK: -

        private static func token(
            _ gateway: Gateway, _ stage: String, userID: String
        ) throws -> (secret: String, participant: String) {
            let options = ["--stage-arn", stage, "--capabilities", "SUBSCRIBE", "--user-id", userID, "--attributes", "seat=7"]
            let made = try gateway.answer("create-participant-token", options)["participantToken"] as? [String: Any]
            return (try #require(made?["token"] as? String), try #require(made?["participantId"] as? String))
        }

        private static func watch(
            _ gateway: Gateway, _ token: String, _ participants: [String], seconds: Int
        ) throws -> ProgramRun {
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/aiortc_whep.py").path
            let (whip, stage) = (try #require(gateway.quickstart.whipURL), try #require(gateway.quickstart.stageId))
            let urls = participants.map { whip.replacing(/\/whip$/, with: "/whep/\(stage)/\($0)") }
            return try ProgramRun(["env", "PICTURE=1", WHIP.python, script, "\(seconds)", token] + urls)
        }

        private static func openPage(_ gateway: Gateway) throws -> ProgramRun {
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/watch_page.py").path
            let picture = Workspace.temporaryFile(suffix: ".png").path
            return try ProgramRun([WHIP.python, script, try #require(gateway.quickstart.watchURL), "2", picture])
        }

        private static func session(_ gateway: Gateway, _ stage: String) throws -> String? {
            let answer = try gateway.answer("list-stage-sessions", ["--stage-arn", stage])
            let sessions = answer["stageSessions"] as? [[String: Any]]
            return sessions?.first?["sessionId"] as? String
        }

        private static func participants(
            _ gateway: Gateway, _ stage: String, _ session: String, _ filter: [String]
        ) throws -> [String] {
            guard !session.isEmpty else { return [] }
            let options = ["--stage-arn", stage, "--session-id", session] + filter
            let found = try gateway.answer("list-participants", options)["participants"] as? [[String: Any]]
            return found?.compactMap { $0["participantId"] as? String } ?? []
        }

        private static func participant(
            _ gateway: Gateway, _ stage: String, _ session: String, _ id: String
        ) throws -> [String: Any] {
            let options = ["--stage-arn", stage, "--session-id", session, "--participant-id", id]
            return try #require(try gateway.answer("get-participant", options)["participant"] as? [String: Any])
        }

        /// Each with whom it is about and its error, where there are.
        private static func events(_ gateway: Gateway, _ stage: String, _ session: String, _ id: String) throws -> [String] {
            let options = ["--stage-arn", stage, "--session-id", session, "--participant-id", id]
            let events = try gateway.answer("list-participant-events", options)["events"] as? [[String: Any]] ?? []
            return events.map { event in
                ["name", "remoteParticipantId", "errorCode"].compactMap { event[$0] as? String }.joined(separator: " ")
            }
        }
    }
}
