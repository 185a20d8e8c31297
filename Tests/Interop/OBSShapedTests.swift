import Foundation
import Testing

extension Interop {
    /// OBS's WHIP plugin is in no Debian package; a client shaped like it stands in.
    @Suite struct OBSShaped {
        static let seconds = 12

        @Test(.timeLimit(.minutes(10)))
        func `publishes without a candidate, answers NACK, ignores keyframe requests, and stops with 200`() throws {
            let gateway = try Gateway()
            let capture = try gateway.captureFirstWHIP()
            let client = try Self.publish(to: gateway)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            let metrics = try gateway.metrics()
            capture.finish()
            let told = try JSONDecoder().decode(Told.self, from: Data(client.lastLine.utf8))
            let pictures = try MediaFile.frameDigests(capture.file.path).count
            print("OBS-shaped: \(told), \(pictures) pictures")
            #expect(told.retransmitted > 0 && metrics.sum("stagedoor_nack_recovered_total") > 0)
            // The one that was lost for good, and what a busy machine repeats too late.
            let lost = Int(metrics.sum("stagedoor_rx_lost_packets_total"))
            #expect((1...max(1, Soak.isAsked ? 1 : told.nacked / 2)).contains(lost), "\(lost) of \(told)")
            #expect((1...3).contains(told.keyframeRequests), "who is deaf is left in peace")
            #expect(told.receiverReports > 0)
            #expect(told.deleted == 200, "after its close_notify, which has ended the session")
            #expect(try gateway.endedSessions().map { $0.story.verdict?.hasPrefix("The publisher ended the session") } == [true])
            #expect(pictures >= max(100, (Self.seconds - 1) * 30 - 60 * lost), "but for what lacked a lost packet")
            #expect(try MediaFile.decodedSounds(capture.file.path) >= (Self.seconds - 1) * 49)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a router that asks for keyframes a thousand times a second reaches it less than once`() throws {
            let gateway = try Gateway()
            let port = gateway.routerPorts.lowerBound + 4
            let router = try WHIP.client("router_pli.py", ["\(port)", "\(Self.seconds - 3)"])
            expect("the router is ready", within: .seconds(60)) { router.output.contains("listening") }
            let begin = ContinuousClock.now
            let client = try Self.publish(to: gateway)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            let seconds = max(Self.seconds, Int(begin.duration(to: .now) / .seconds(1)))
            #expect(router.status(within: .seconds(60)) == 0, "\(router.output)")
            let told = try JSONDecoder().decode(Told.self, from: Data(client.lastLine.utf8))
            let asked = try JSONDecoder().decode(Asked.self, from: Data(router.lastLine.utf8))
            print("PLI: \(asked), \(told)")
            #expect(asked.asked > 1_000 && asked.received > 100)
            // Each of its own keyframes, every 2 s, looks like an answer, after which it may be asked again.
            #expect((1..<seconds).contains(told.keyframeRequests))
            gateway.stop()
        }

        /// x264's "auto", 250 frames, at 60 frames a second; at 30 it is 8.3 s, and takes twice as long to find.
        @Test(.timeLimit(.minutes(10)))
        func `hears of a keyframe interval that is too long, since it heeds no request`() throws {
            let gateway = try Gateway()
            let file = Workspace.temporaryFile(suffix: ".mkv")
            _ = try ProgramRun.output(
                of: [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=60", "-f",
                    "lavfi",
                    "-i", "sine=r=48000", "-t", "30", "-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "baseline", "-bf",
                    "0",
                    "-g", "250", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-c:a", "libopus", "-ac", "2", file.path,
                ], within: .seconds(60))
            let (url, token) = try WHIP.endpoint(gateway)
            let client = try WHIP.client("whip_obs.py", ["\(Encoder.untilStopped)", url, token, file.path])
            expect("a warning in the log", within: .seconds(60)) { gateway.log.contains("\"contract_warning\"") }
            let id = try #require(gateway.log.firstMatch(of: /"whip_connected".*"session":"([^"]+)"/)?.1)
            let told = try gateway.signedAdmin("v1/sessions/\(id)")
            #expect(told.contains(#""rule":"keyframeInterval","sentence":"keyframe every 4.2 s (at most 2): "#), "\(told)")
            client.kill()
            gateway.stop()
        }

        static func publish(to gateway: Gateway, seconds: Int = seconds) throws -> ProgramRun {
            let file = Workspace.temporaryFile(suffix: ".mkv")
            _ = try ProgramRun.output(
                of: [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", try Clip.p30.file(), "-c:v", "copy", "-c:a",
                    "libopus",
                    "-b:a", "96k", file.path,
                ], within: .seconds(60))
            let (url, token) = try WHIP.endpoint(gateway)
            return try WHIP.client("whip_obs.py", ["\(seconds)", url, token, file.path, "2"])
        }

        private struct Asked: Decodable {
            var received: Int
            var asked: Int
        }

        /// What the client says it did.
        private struct Told: Decodable {
            var video: Int
            var audio: Int
            var nacked: Int
            var retransmitted: Int
            var keyframeRequests: Int
            var receiverReports: Int
            var deleted: Int
        }
    }
}
