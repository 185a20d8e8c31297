import Foundation
import Testing

extension Interop {
    /// Debian's Janus between a WHIP encoder and a WebRTC viewer.
    @Suite struct Janus {
        @Test(.timeLimit(.minutes(10)))
        func `a viewer at the mountpoint sees a WHIP encoder, which is asked for keyframes`() throws {
            let janus = try JanusServer()
            let gateway = try Gateway(routers: "  j: {driver: janus, url: \"\(janus.url)\"}")
            let encoder = try ProgramRun([
                WHIP.python, WHIP.script("aiortc_whip.py"), "\(Encoder.untilStopped)",
                try #require(gateway.quickstart.whipURL), try #require(gateway.quickstart.whipToken),
            ])
            expect("it is announced\n\(encoder.output)", within: .seconds(60)) { gateway.log.contains("\"router_announced\"") }
            let mountpoint = try #require(try janus.mountpoints().first)
            let before = try Self.keyframeRequests(gateway)
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/janus_viewer.py").path
            let viewer = try ProgramRun([WHIP.python, script, janus.url, "\(mountpoint)", "6"])
            #expect(
                viewer.status(within: .seconds(360)) == 0,
                "\(viewer.output)\n\(encoder.output)\n\(janus.output.suffix(2_000))\n\(gateway.log.suffix(4_000))")
            let seen = try JSONDecoder().decode(Seen.self, from: Data(viewer.output.utf8))
            #expect(seen.pictures > 60 && seen.sounds > 100, "\(seen)")
            for story in seen.stories { print("Janus, a viewer without media: \(story)") }
            #expect(try Self.keyframeRequests(gateway) > before)
            encoder.send(SIGUSR2)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            let asked = try #require(encoder.output.firstMatch(of: /keyframe requests (\d+)/)?.output.1)
            #expect((Int(asked) ?? 0) >= 1, "for the viewer, and at the start unless a keyframe came first: \(encoder.output)")
            try expect("the mountpoint goes with its participant", within: .seconds(60)) { try janus.mountpoints().isEmpty }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `Janus leaves nothing where the tests run`() throws {
            let files = FileManager.default
            let before = try Set(files.contentsOfDirectory(atPath: files.currentDirectoryPath))
            let janus = try JanusServer()
            #expect(try janus.mountpoints().isEmpty)
            let after = try Set(files.contentsOfDirectory(atPath: files.currentDirectoryPath))
            #expect(!after.subtracting(before).contains("html"), "its voicemail plugin's folder")
        }

        /// A gateway that was killed left its mountpoint behind.
        @Test(.timeLimit(.minutes(10)))
        func `a restart destroys what the killed process left at Janus`() throws {
            let janus = try JanusServer()
            let settings = "  j: {driver: janus, url: \"\(janus.url)\"}"
            let killed = try Gateway(routers: settings)
            let encoder = try Encoder.ffmpeg(.p30, to: killed.quickstart.publishURL, seconds: Encoder.untilStopped)
            try expect("a mountpoint", within: .seconds(60)) { try janus.mountpoints().count == 1 }
            killed.kill()
            encoder.kill()
            #expect(try janus.mountpoints().count == 1)
            let successor = try Gateway(routers: settings, data: killed.data)
            try expect("it is gone", within: .seconds(60)) { try janus.mountpoints().isEmpty }
            successor.stop()
        }

        private struct Seen: Decodable {
            var pictures: Int
            var sounds: Int
            /// Of the connections before, none of which had media.
            var stories: [String]
        }

        private static func keyframeRequests(_ gateway: Gateway) throws -> Int {
            Int(try gateway.metrics().sum("stagedoor_pli_received_total", "result=\"passed\""))
        }
    }
}
