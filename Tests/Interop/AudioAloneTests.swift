import Foundation
import Testing

extension Interop {
    /// WHIP publishers that offer video and send none: participants like all others, and video may follow.
    @Suite struct AudioAlone {
        @Test(.timeLimit(.minutes(10)))
        func `aiortc with sound alone is a participant from JOINED to LEFT, with metrics, and is heard by WHEP`() throws {
            let gateway = try Gateway()
            let client = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped, environment: ["VIDEO=later"])
            let participant = try #require(gateway.quickstart.whipParticipantId)
            try expect("it publishes", within: .seconds(60)) { try Self.events(gateway, participant).last == "PUBLISH_STARTED" }
            let viewer = try Self.watch(gateway, seconds: 3, ["UNTIL=0,61"])
            #expect(viewer.status(within: .seconds(400)) == 0, "\(viewer.output)")
            let decoded = try #require(
                viewer.output.firstMatch(of: /decoded 0 pictures (\d+) .*sounds (\d+)/), "\(viewer.output)")
            #expect(Int(decoded.output.1) == 0 && Int(decoded.output.2) ?? 0 > 60, "\(viewer.output)")
            try Self.expectAudioMetrics(gateway, participant)
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output)")
            try expect("it has left", within: .seconds(60)) { try Self.events(gateway, participant).last == "LEFT" }
            #expect(try Self.events(gateway, participant) == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"])
            let told = try #require(try gateway.endedSessions().first)
            #expect(told.story.steps.contains { $0.step == "audioAlone" } && !told.story.steps.contains { $0.step == "firstIDR" })
            #expect(told.story.verdict?.contains("no H.264 keyframe") == false, "\(told)")
            gateway.stop()
        }

        /// Browsers play nothing of an element whose picture has not begun.
        @Test(.timeLimit(.minutes(10)))
        func `sound alone is played by the watch page`() throws {
            let gateway = try Gateway()
            let client = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped, environment: ["VIDEO=later"])
            let browser = try ProgramRun([
                WHIPClient.python, WHIPClient.script("watch_sound.py"), try #require(gateway.quickstart.watchURL),
            ])
            #expect(browser.status(within: .seconds(400)) == 0 && browser.output.contains("plays, 0 wide"), "\(browser.output)")
            client.kill()
            gateway.stop()
        }

        /// One publish: audio alone, pictures, muted, pictures again. The router is told, and whoever watches sees them.
        @Test(.timeLimit(.minutes(10)), arguments: ["aiortc", "Chromium"])
        func `video that follows is seen at the router and by WHEP`(_ name: String) throws {
            let router = try StageRouter()
            let gateway = try Gateway(routers: "  embedded: {driver: embedded}\n" + router.settings("a"))
            let client = try Self.publisher(name, gateway)
            let participant = try #require(gateway.quickstart.whipParticipantId)
            try expect("audio alone\n\(client.output)", within: .seconds(60)) {
                try Self.events(gateway, participant).last == "PUBLISH_STARTED"
                    && router.participants()[participant]?.muted == ["video"]
            }
            var early: StageRouter.Participant?
            try expect("sound at the router", within: .seconds(60)) {
                early = try router.participants()[participant]
                return early?.tracks.contains { $0.kind == "audio" && $0.packets > 0 } == true
            }
            #expect(early?.pictures == 0, "\(String(describing: early))")
            let viewer = try Self.watch(gateway, seconds: Encoder.untilStopped)
            expect("it watches", within: .seconds(60)) { viewer.output.contains("state 0 connected") }
            client.send(SIGUSR1)
            let pictures = try Self.expectPictures(above: 0, of: participant, at: router)
            #expect(try router.participants()[participant]?.firstUnits.contains(5) == true, "they begin with a keyframe")
            expect("the viewer sees them\n\(viewer.output)", within: .seconds(60)) { viewer.output.contains("first picture 0") }
            if name == "Chromium" {
                client.send(SIGUSR1)
                try expect("muted", within: .seconds(60)) { try router.participants()[participant]?.muted == ["video"] }
                // Whoever comes now gets its keyframe when video goes on.
                let late = try Self.watch(gateway, seconds: Encoder.untilStopped)
                expect("it watches", within: .seconds(60)) { late.output.contains("state 0 connected") }
                client.send(SIGUSR1)
                _ = try Self.expectPictures(above: pictures, of: participant, at: router)
                expect("it sees them\n\(late.output)", within: .seconds(60)) { late.output.contains("first picture 0") }
                late.kill()
            }
            viewer.kill()
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output)")
            try expect("it has left", within: .seconds(60)) { try Self.events(gateway, participant).last == "LEFT" }
            #expect(try Self.events(gateway, participant) == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"])
            let steps = try #require(try gateway.endedSessions().first).story.steps.map(\.step)
            #expect(steps.contains("audioAlone") && steps.contains("firstIDR"), "\(steps)")
            gateway.stop()
        }

        // MARK: -

        private static func publisher(_ name: String, _ gateway: Gateway) throws -> ProgramRun {
            if name == "aiortc" {
                return try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped, environment: ["VIDEO=later"])
            }
            let page = try #require(gateway.quickstart.whipURL).replacing(/\/whip$/, with: "/publish")
            return try ProgramRun([
                "env", "VIDEO=later", WHIPClient.python, WHIPClient.script("browser_whip.py"), "\(Encoder.untilStopped)", page,
                try #require(gateway.quickstart.whipToken), "camera",
            ])
        }

        private static func watch(_ gateway: Gateway, seconds: Int, _ environment: [String] = []) throws -> ProgramRun {
            let path = "/whep/\(try #require(gateway.quickstart.stageId))/\(try #require(gateway.quickstart.whipParticipantId))"
            let whip = try #require(gateway.quickstart.whipURL)
            let line = [WHIPClient.python, WHIPClient.script("aiortc_whep.py"), "\(seconds)", try gateway.makeToken()]
            return try ProgramRun(["env"] + environment + line + [whip.replacing(/\/whip$/, with: path)])
        }

        /// - Returns: how many there are then.
        private static func expectPictures(above count: Int, of participant: String, at router: StageRouter) throws -> Int {
            var seen: StageRouter.Participant?
            let isSeen = try holds(within: .seconds(60)) {
                seen = try router.participants()[participant]
                return seen?.pictures ?? 0 > count + 10 && seen?.muted == []
            }
            #expect(isSeen, "more than \(count) pictures, unmuted: \(String(describing: seen))")
            return seen?.pictures ?? 0
        }

        /// The names of a participant's events, the oldest first; empty before anybody is known.
        private static func events(_ gateway: Gateway, _ participant: String) throws -> [String] {
            let stage = try #require(gateway.quickstart.stageArn)
            guard let session = try gateway.stageSessions(stage).first else { return [] }
            return try gateway.participantEvents(stage, session, participant).compactMap { $0["name"] as? String }
        }

        /// CloudWatch's names: a publisher with a bitrate of audio and none of video. Prometheus': no video came.
        private static func expectAudioMetrics(_ gateway: Gateway, _ participant: String) throws {
            let stage = try #require(gateway.quickstart.stageId)
            var metrics = ""
            try expect("series of it\n\(metrics)", within: .seconds(60)) {
                metrics = try gateway.signed("v1/stages/\(stage)/metrics?participantId=\(participant)")
                return metrics.contains("\"PublishBitrate\"") && metrics.contains("\"audio\"")
            }
            #expect(!metrics.contains("\"video\""), "\(metrics)")
            let publishers = try gateway.signed("v1/stages/\(stage)/metrics")
            #expect(publishers.contains("\"Publishers\""), "\(publishers)")
            try expect("its packets", within: .seconds(60)) {
                try gateway.metrics().sum("stagedoor_rx_packets_total", "protocol=\"whip\"", "kind=\"audio\"") > 100
            }
            #expect(try gateway.metrics().sum("stagedoor_rx_packets_total", "protocol=\"whip\"", "kind=\"video\"") == 0)
        }
    }
}
