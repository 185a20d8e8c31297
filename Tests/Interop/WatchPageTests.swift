import Foundation
import Testing

extension Interop {
    /// The embedded router's watch page in Debian's Chromium, with real encoders behind it.
    @Suite struct WatchPage {
        /// One RTMP publisher (ffmpeg) and one by WHIP (aiortc), whose pictures tell when they were made.
        @Test(.timeLimit(.minutes(10)))
        func `Chromium plays everybody, tells how they fare, and sees them come and go`() throws {
            let gateway = try Gateway()
            let url = try #require(gateway.quickstart.watchURL)
            #expect(url.contains("/watch/\(try #require(gateway.quickstart.stageId))#token="))
            let screenshot = try Self.screenshot()
            // The page is open before anybody is live: they appear by themselves.
            let browser = try ProgramRun([WHIP.python, Self.client("watch_page.py"), url, "2", screenshot])
            let rtmp = try ProgramRun([
                "/usr/bin/python3", Self.client("clock_picture.py"), "\(Encoder.untilStopped)", gateway.quickstart.publishURL,
            ])
            let whip = try ProgramRun([
                WHIP.python, Self.client("aiortc_whip.py"), "\(Encoder.untilStopped)", try #require(gateway.quickstart.whipURL),
                try #require(gateway.quickstart.whipToken), "clock",
            ])
            let isSeen = holds(within: .browserScript) { browser.output.contains("\n") || !browser.isRunning }
            try #require(isSeen, "\(browser.output)\n\(rtmp.output)\n\(whip.output)\n\(gateway.log.suffix(4_000))")
            let line = browser.output.split(separator: "\n")[0]
            let seen = try #require(try? JSONDecoder().decode(Seen.self, from: Data(line.utf8)), "\(browser.output)")
            #expect(
                Set(seen.participants.map(\.participant))
                    == [gateway.quickstart.participantId, gateway.quickstart.whipParticipantId])
            for participant in seen.participants { Self.expectAlive(participant) }
            print(Self.latencies(seen, rtmp: gateway.quickstart.participantId))
            #expect(seen.keyboard.focused == "FIGURE" && seen.keyboard.heard == 2 && seen.keyboard.listed)
            #expect(Set(seen.themes).count == 2, "light and dark: \(seen.themes)")
            #expect(seen.resources.allSatisfy { !$0.contains("token") }, "the token is in no URL")
            whip.kill()
            #expect(browser.status(within: .seconds(60)) == 0, "\(browser.output)")
            #expect(browser.output.contains("\"left\": true"))
            let token = try #require(url.split(separator: "=").last)
            #expect(!gateway.log.split(separator: "\n").contains { $0.hasPrefix("{") && $0.contains(token) })
            rtmp.kill()
            gateway.stop()
        }

        /// As a phone that leaves its WLAN: the session stays, and its place.
        @Test(.timeLimit(.minutes(10)))
        func `Chromium goes on by another way when its network changes`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let browser = try ProgramRun([
                WHIP.python, Self.client("watch_network.py"), try #require(gateway.quickstart.watchURL),
            ])
            #expect(browser.status(within: .seconds(400)) == 0, "\(browser.output)\n\(encoder.output)")
            #expect(browser.output.contains("goes on, connections: 1"), "\(browser.output)")
            encoder.kill()
            gateway.stop()
        }

        /// Time goes on, frames are decoded, there is a picture and a tone, and the page says so.
        private static func expectAlive(_ seen: Participant) {
            #expect(seen.played > 2 && seen.frames > 40, "\(seen)")
            #expect(seen.brightness > 30 && seen.level > 0.001 && seen.energy > 0, "\(seen)")
            #expect(seen.stereo, "Chromium's own offer does not ask for two channels")
            #expect(seen.width == 640 && seen.height == 360, "\(seen)")
            // Bars that are read wrong tell of any of seventeen minutes.
            #expect(seen.samples > 20 && 1...60_000 ~= seen.latency, "the bars are read: \(seen)")
            #expect(seen.text["Picture"] == "640 × 360", "\(seen)")
            for row in ["Frames", "Bitrate", "Loss", "Latency"] {
                #expect(seen.text[row]?.contains(where: \.isNumber) == true, "\(row): \(seen)")
            }
        }

        private static func latencies(_ seen: Seen, rtmp: String) -> String {
            seen.participants.map { each in
                let ingest = each.participant == rtmp ? "RTMP (ffmpeg, x264 zerolatency)" : "WHIP (aiortc)"
                return "glass to glass, \(ingest): \(Int(each.latency)) ms p50, \(Int(each.latency90)) ms p90 of"
                    + " \(each.samples) pictures; the page says \(each.text["Latency"] ?? "nothing")"
            }.joined(separator: "\n")
        }

        private static func client(_ name: String) -> String {
            Workspace.package.appending(path: "Tests/Interop/Clients/\(name)").path
        }

        private static func screenshot() throws -> String {
            let folder = Workspace.package.appending(path: "artifacts")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder.appending(path: "watch.png").path
        }

        private struct Seen: Decodable {
            var participants: [Participant]
            var keyboard: Keyboard
            var themes: [String]
            var resources: [String]
        }

        private struct Keyboard: Decodable {
            var focused: String
            var heard: Int
            var listed: Bool
        }

        private struct Participant: Decodable {
            var participant: String
            var width: Int
            var height: Int
            var played: Double
            var frames: Int
            var level: Double
            var energy: Double
            var brightness: Double
            /// Sound is asked for in two channels.
            var stereo: Bool
            var samples: Int
            /// From the making of the picture to its display, milliseconds.
            var latency: Double
            var latency90: Double
            var text: [String: String]
        }
    }
}
