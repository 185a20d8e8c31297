import Foundation
import TestSupport
import Testing

extension Interop {
    /// Announced routers on real sockets that die, come back, answer late, or are not there.
    @Suite struct RouterFailure {
        @Test(.timeLimit(.minutes(10)))
        func `publishes are refused in words while no router lives, and taken once one does`() throws {
            let nobody = try StageRouter(port: Int(FreePorts.tcp()))
            nobody.kill()
            let gateway = try Gateway(routers: nobody.settings("a"))
            expect("it knows", within: .seconds(60)) { gateway.log.contains("\"routers_available\",\"available\":false") }
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(encoder.status(within: .seconds(60)) != 0)
            let problem = try Self.postOffer(to: gateway)
            #expect(problem.hasPrefix("HTTP/1.1 503 ") && problem.contains("SD-1072") && problem.contains("Retry-After"))
            #expect(problem.contains("No stage router can take the stream now"))
            expect("the log has the refusal", within: .seconds(60)) { gateway.log.contains("SD-1072") }

            let router = try StageRouter(port: nobody.port)
            expect("it comes back", within: .seconds(60)) { gateway.log.contains("\"routers_available\",\"available\":true") }
            let again = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 4)
            #expect(again.status(within: .seconds(60)) == 0, "\(again.output)")
            #expect(router.port == nobody.port)
            gateway.stop()
        }

        /// kill -9 one of two routers: every stream goes on at the other from its next picture that can be decoded alone.
        @Test(.timeLimit(.minutes(10)))
        func `twenty streams move whole to the other router, and no encoder notices`() throws {
            let routers = try [StageRouter(), StageRouter()]
            let gateway = try Gateway(
                configuration: "rates: {resources: 10000}", routers: routers[0].settings("a") + routers[1].settings("b"),
                participants: 25)
            let keys = try gateway.makeStreamKeys(stages: 10, each: 2)
            let encoders = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", keys.path, "--flv",
                try Clip.p30.file(), "--seconds", "\(Encoder.untilStopped)",
            ])
            try expect("all are announced", within: .seconds(60)) {
                try routers.reduce(0) { try $0 + $1.participants().count } == 20
            }
            letPass(.seconds(2))
            let before = try routers.map { try $0.participants() }
            let dies = before[0].count >= before[1].count ? 0 : 1
            routers[dies].kill()
            let killed = ContinuousClock.now
            try expect("all are at the other", within: .seconds(60)) { try routers[1 - dies].participants().count == 20 }
            print("20 streams on two routers: \(before[dies].count) moved in \(killed.duration(to: .now))")
            var after: [String: StageRouter.Participant] = [:]
            try expect("pictures of all", within: .seconds(60)) {
                after = try routers[1 - dies].participants()
                return after.count == 20 && after.values.allSatisfy { $0.pictures > 30 }
            }
            #expect(encoders.isRunning, "\(encoders.output)")
            for (id, participant) in after {
                #expect(participant.tracks.count == 2 && participant.tracks.allSatisfy(\.isWhole), "\(participant)")
                #expect(participant.foreign == 0 && !participant.saidBye)
                #expect(participant.firstUnits.contains(7) && participant.firstUnits.contains(5), "it begins with an IDR picture")
                if let former = before[dies][id] { #expect(participant.generation > former.generation) }
                if let former = before[1 - dies][id] { #expect(participant.generation == former.generation) }
            }
            #expect(encoders.interrupt() == 0, "\(encoders.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a router that answers late costs no picture`() throws {
            // What comes before the answer is kept for 2 s: the rest of them is for a machine that is busy with others.
            let router = try StageRouter(["--delay", "0.5"])
            let gateway = try Gateway(routers: router.settings("a"))
            let encoder = try Encoder.ffmpeg(Self.oneKeyframe, to: gateway.quickstart.publishURL)
            var seen: StageRouter.Participant?
            try expect("pictures at the router\n\(encoder.output)", within: .seconds(60)) {
                seen = try router.participants()[gateway.quickstart.participantId]
                return seen?.pictures ?? 0 >= 140
            }
            let participant = try #require(seen)
            #expect(participant.firstUnits.contains(7) && participant.firstUnits.contains(5), "\(participant)")
            #expect(encoder.isRunning && participant.tracks.allSatisfy(\.isWhole), "\(participant) \(encoder.output)")
            encoder.kill()
            gateway.stop()
        }

        /// The first picture alone can be decoded alone: where that is missing nothing comes.
        private static let oneKeyframe = Clip(
            name: "one keyframe", video: "testsrc2=s=320x180:r=30", seconds: 120, keyInterval: 9_999, bitrate: "100k")

        private static func postOffer(to gateway: Gateway) throws -> String {
            try ProgramRun.output(
                of: [
                    "curl", "-sS", "-i", "-H", "Content-Type: application/sdp", "-H",
                    "Authorization: Bearer \(try #require(gateway.quickstart.whipToken))", "--data", "v=0",
                    try #require(gateway.quickstart.whipURL),
                ], within: .seconds(60))
        }
    }
}
