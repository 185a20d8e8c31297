import Foundation
import Testing

extension Interop {
    /// Subscribers of the embedded router by WHEP (draft-ietf-wish-whep), on four workers, from aiortc.
    @Suite struct WHEP {
        /// Two subscribers more let every twentieth video packet fall once and ask for a keyframe each second. About 20 s.
        @Test(.timeLimit(.minutes(10)))
        func `an RTMP and a WHIP publisher are decoded whole on all workers, over loss`() throws {
            let gateway = try Gateway(configuration: "workers: {count: 4}")
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let publisher = try Self.client(
                "aiortc_whip.py", ["\(Encoder.untilStopped)", Self.whip(gateway), Self.token(gateway)])
            let rtmp = try Self.url(gateway, gateway.quickstart.participantId)
            let whip = try Self.url(gateway, #require(gateway.quickstart.whipParticipantId))
            expect("it publishes", within: .seconds(180)) { publisher.output.contains("state connected") }
            let begin = ContinuousClock.now
            let lossy = try Self.client(
                "aiortc_whep.py", ["12", Self.token(gateway), rtmp, whip], environment: ["DROP=20", "PLI=1", "UNTIL=11,0"])
            let viewer = try Self.client(
                "aiortc_whep.py", ["12", Self.token(gateway), rtmp, whip, rtmp, whip, rtmp], environment: ["UNTIL=41,61"])
            #expect(viewer.status(within: .seconds(400)) == 0, "\(viewer.output)")
            #expect(lossy.status(within: .seconds(400)) == 0, "\(lossy.output)")
            // A repetition that a loaded client asks for too late costs it the rest of a GOP.
            #expect(try Self.decoded(0, lossy.output)["pictures", default: 0] > 10, "\(lossy.output)")
            let metrics = try gateway.admin("metrics")
            for number in 0..<5 {
                let decoded = try Self.decoded(number, viewer.output)
                #expect(decoded["pictures", default: 0] > 40 && decoded["sounds", default: 0] > 60, "\(viewer.output)")
                // The test pattern has black and white; aiortc's own picture is all of one colour.
                if number % 2 == 0 { #expect(decoded["contrast", default: 0] > 150, "\(viewer.output)") }
            }
            #expect(Self.value(of: "stagedoor_whep_retransmissions_total", metrics) > 3)
            // Of each of two publishers.
            let most = 4 * (begin.duration(to: .now) / .seconds(1)) + 4
            #expect(
                (3...most).contains(Self.value(of: "stagedoor_whep_keyframe_requests_total", metrics)), "twice a second at most")
            #expect(viewer.output.matches(of: /DELETE \d 200/).count == 5)
            try expect("every place is free", within: .seconds(180)) {
                try Self.value(of: "stagedoor_whep_subscribers", gateway.admin("metrics")) == 0
            }
            let workers = Set(gateway.log.matches(of: /"whep_connected".*"worker":(\d)/).map { $0.output.1 })
            #expect(workers.count > 1, "some subscriber is on another worker than its publisher")
            #expect(encoder.isRunning && publisher.isRunning, "subscribers cost the publishers nothing")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `the fifty-first subscriber is refused in words, and DELETE frees every place`() throws {
            let gateway = try Gateway(
                configuration: "embedded: {maximumSubscribers: 50, subscribersPerStage: 50}\n\(Gateway.roomForMany)")
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let url = try Self.url(gateway, gateway.quickstart.participantId)
            expect("it publishes", within: .seconds(180)) { gateway.log.contains("rtmp_publish_granted") }
            // Each with a token of its own: of one token the newest would displace the oldest.
            let tokens = try gateway.makeTokens(51)
            let client = try Self.client(
                "aiortc_whep.py", ["0", tokens.joined(separator: ","), url], environment: ["PLACES=51"])
            #expect(client.status(within: .seconds(180)) == 0, "\(client.output)")
            for turn in ["first", "again"] {
                #expect(client.output.contains("\(turn) created 50"), "\(client.output)")
                #expect(client.output.contains("\(turn) refused 503 SD-1141 "), "\(client.output)")
            }
            let nobody = try Self.client("aiortc_whep.py", ["0", Self.token(gateway), url + "x"])
            _ = nobody.status(within: .seconds(180))
            #expect(nobody.output.contains("POST 0 409") && nobody.output.contains("SD-1140"), "\(nobody.output)")
            encoder.kill()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a subscriber that vanishes is let go, and one whose participant left too`() throws {
            let gateway = try Gateway(configuration: "whip: {consentTimeout: 5s}")
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let url = try Self.url(gateway, gateway.quickstart.participantId)
            expect("it publishes", within: .seconds(180)) { gateway.log.contains("rtmp_publish_granted") }
            let vanishing = try Self.client("aiortc_whep.py", ["\(Encoder.untilStopped)", Self.token(gateway), url])
            expect("it watches", within: .seconds(180)) { vanishing.output.contains("first picture") }
            vanishing.kill()
            expect("its place is free", within: .seconds(180)) { gateway.log.contains(#""reason":"connection lost""#) }
            let staying = try Self.client("aiortc_whep.py", ["\(Encoder.untilStopped)", Self.token(gateway), url])
            expect("it watches", within: .seconds(180)) { staying.output.contains("first picture") }
            encoder.kill()
            expect("the participant does not come back", within: .seconds(180)) { staying.output.contains("state 0 closed") }
            #expect(Self.value(of: "stagedoor_whep_subscribers", try gateway.admin("metrics")) == 0)
            #expect(gateway.log.matches(of: /"whep_ended".*"reason":"SD-1140/).count == 1, "its connection was not lost")
            staying.kill()
            gateway.stop()
        }

        // MARK: -

        private static func client(_ name: String, _ arguments: [String], environment: [String] = []) throws -> ProgramRun {
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/\(name)").path
            return try ProgramRun(["env"] + environment + [WHIP.python, script] + arguments)
        }

        private static func whip(_ gateway: Gateway) throws -> String { try #require(gateway.quickstart.whipURL) }
        /// Quickstart's token may publish and subscribe.
        private static func token(_ gateway: Gateway) throws -> String { try #require(gateway.quickstart.whipToken) }

        private static func url(_ gateway: Gateway, _ participant: String) throws -> String {
            let stage = try #require(gateway.quickstart.stageId)
            return try whip(gateway).replacing(/\/whip$/, with: "/whep/\(stage)/\(participant)")
        }

        /// The figures of a line `decoded NUMBER name value …`.
        private static func decoded(_ number: Int, _ output: String) throws -> [String: Int] {
            let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("decoded \(number) ") }, "\(output)")
            let words = line.split(separator: " ").dropFirst(2).map(String.init)
            return Dictionary(
                stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], Int(words[$0 + 1]) ?? 0) },
                uniquingKeysWith: { $1 })
        }

        private static func value(of name: String, _ scrape: String) -> Double {
            let line = scrape.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            return line.flatMap { Double($0.split(separator: " ")[1]) } ?? -1
        }
    }
}
