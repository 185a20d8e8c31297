import Foundation
import Testing

extension Interop.MediaContract {
    /// The table of rules of a session: live, warned, refused, by either protocol.
    @Suite struct RulesAtAGlance {
        private struct Rule: Decodable {
            var rule: String
            var action: String
            var limit: String
            var seen: String?
            var ok: Bool?
            var setting: String
        }

        private struct Session: Decodable {
            var rules: [Rule]

            subscript(rule: String) -> Rule? { rules.first { $0.rule == rule } }
        }

        private struct Overview: Decodable {
            struct Session: Decodable {
                var sessionId: String?
                /// Of a refusal.
                var sentence: String?
            }

            var sessions: [Session]
            var refused: [Session]
        }

        @Test(.timeLimit(.minutes(10)))
        func `a live session's table, and that it breaks a rule which only warns`() throws {
            let gateway = try Gateway()
            let clip = Clip(name: "keyframes far apart", video: "testsrc2=s=640x360:r=30", seconds: 12, keyInterval: 150)
            let encoder = try Encoder.ffmpeg(clip, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            var session: Session?
            try expect("a table that has seen two keyframes", within: .seconds(60)) {
                session = try Self.overview(of: gateway).sessions.first?.sessionId.map { try Self.session($0, of: gateway) }
                return ["videoBitrate", "audioBitrate", "frameRate"].allSatisfy { session?[$0]?.ok == true }
            }
            let told = try #require(session)
            #expect(told["keyframeInterval"]?.action == "warn" && told["keyframeInterval"]?.limit == "at most 2 s")
            #expect(told["keyframeInterval"]?.seen == "keyframe every 5 s")
            #expect(told["keyframeInterval"]?.setting.contains("force_key_frames") == true)
            #expect(told["maximumResolution"]?.seen == "640x360 pixels")
            #expect(told["audioFormat"]?.seen == "48 kHz, 2 channels")
            #expect(told.rules.filter { $0.ok != true }.map(\.rule) == ["keyframeInterval"], "\(told.rules)")
            #expect(told.rules.count == 13)
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a refused session is found from its refusal, and tells which setting of its encoder changes it`() throws {
            let gateway = try Gateway()
            let clip = Clip(name: "High with B-frames", profile: "high", bFrames: 2)
            #expect(try Encoder.ffmpeg(clip, to: gateway.quickstart.publishURL).status(within: .seconds(60)) != 0)
            let refused = try Self.refused(by: gateway)
            let told = try Self.session(#require(refused.sessionId), of: gateway)
            #expect(told["bFrames"]?.ok == false && told["bFrames"]?.setting == "-bf 0")
            #expect(told["videoProfile"]?.ok == false && told["videoProfile"]?.seen == "High profile")
            #expect(told["videoProfile"]?.setting == "-profile:v baseline")
            #expect(told["maximumResolution"]?.ok == true)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `by WHIP as well`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 10)
            let publisher = try gateway.makePublishers(["one"])[0]
            let clip = ContractClip(
                "B-frames at once",
                ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.x264(["-profile:v", "main", "-bf", "2"])
                    + ContractClip.aac)
            let run = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
                publisher.token, "--flv", try clip.file().path, "--seconds", "60",
            ])
            try #require(run.status(within: .seconds(120)) != nil)
            let refused = try Self.refused(by: gateway)
            let told = try Self.session(#require(refused.sessionId), of: gateway)
            #expect(told["bFrames"]?.ok == false)
            #expect(told["audioCodec"]?.seen == "Opus" && told["tracks"] == nil)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `three layers keep every rule, each seen by its name`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.simulcast(to: gateway, seconds: Encoder.untilStopped)
            var session: Session?
            try expect("a table that has seen all there is", within: .seconds(60)) {
                session = try Self.overview(of: gateway).sessions.first?.sessionId.map { try Self.session($0, of: gateway) }
                return ["videoBitrate", "audioBitrate", "frameRate"].allSatisfy { session?[$0]?.ok == true }
                    && session?["maximumResolution"]?.seen?.contains("low") == true
            }
            let told = try #require(session)
            #expect(told["maximumResolution"]?.seen == "hi: 1280x720 pixels; mid: 640x360 pixels; low: 320x180 pixels")
            #expect(told["minimumResolution"]?.seen == "hi: 1280x720 pixels")
            #expect(told["videoBitrate"]?.seen?.hasPrefix("all layers together: ") == true)
            #expect(told.rules.allSatisfy { $0.ok != false }, "\(told.rules)")
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `one layer with B-frames ends the publish, and is named`() throws {
            var layers = Clip.layers
            layers[1] = Clip(
                name: "layer of 360 lines with B-frames", video: "testsrc2=s=640x360:r=30", profile: "main", bFrames: 2,
                bitrate: "500k")
            let (sentence, table) = try refusal(of: layers)
            #expect(sentence.hasPrefix("layer mid (640x360): 2 B-frames (allowed: none), Main profile"), "\(sentence)")
            #expect(table["bFrames"]?.seen == "layer mid (640x360): 2 B-frames" && table["bFrames"]?.ok == false)
        }

        @Test(.timeLimit(.minutes(10)))
        func `layers that are too much together end the publish, each of them below the limit`() throws {
            let layers = [(1_280, 720), (640, 360), (320, 180)].map { width, height in
                Clip(
                    name: "4 Mbit/s of \(height) lines",
                    video: "nullsrc=s=\(width)x\(height):r=30,format=gray,noise=alls=100:allf=t,format=yuv420p", bitrate: "4000k")
            }
            let (sentence, table) = try refusal(of: layers)
            #expect(sentence.contains(/^all layers together: video at 1[0-9.]+ Mbit\/s \(at most 8\.5\)\./), "\(sentence)")
            #expect(table["videoBitrate"]?.ok == false)
        }

        /// What a publisher of these layers is told, and the table of its session.
        private func refusal(of layers: [Clip]) throws -> (String, Session) {
            let gateway = try Gateway()
            let encoder = try Encoder.simulcast(layers, to: gateway, seconds: Encoder.untilStopped)
            let refused = try Self.refused(by: gateway)
            encoder.interrupt()
            let told = try Self.session(#require(refused.sessionId), of: gateway)
            gateway.stop()
            return (try #require(refused.sentence), told)
        }

        /// What the gateway's first refusal tells.
        private static func refused(by gateway: Gateway) throws -> Overview.Session {
            var refused: Overview.Session?
            try expect("a refusal", within: .seconds(60)) {
                refused = try overview(of: gateway).refused.first
                return refused?.sentence != nil && refused?.sessionId != nil
            }
            return try #require(refused)
        }

        private static func overview(of gateway: Gateway) throws -> Overview {
            try JSONDecoder().decode(Overview.self, from: Data(try gateway.signedAdmin("v1/overview").utf8))
        }

        private static func session(_ id: String, of gateway: Gateway) throws -> Session {
            try JSONDecoder().decode(Session.self, from: Data(try gateway.signedAdmin("v1/sessions/\(id)").utf8))
        }
    }
}
