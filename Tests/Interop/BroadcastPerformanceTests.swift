import Foundation
import Testing

extension Interop {
    /// What encoders tell of their frames (Broadcast Performance Metrics), put into a clip as OBS does.
    @Suite struct BroadcastPerformance {
        private struct Session: Decodable {
            struct Encoder: Decodable, Equatable {
                var rendered: Int
                var lagged: Int
                var input: Int
                var skipped: Int
                var encoded: Int
                var output: Int
                var dropped: Int
                var verdict: String?
                var culprit: String?
            }

            struct Story: Decodable {
                struct Warning: Decodable {
                    var rule: String
                    var sentence: String
                }

                var warnings: [Warning]
            }

            var story: Story
            var encoder: Encoder
        }

        /// What one publish of a clip with messages came to.
        private struct Outcome {
            var session: Session
            /// The line that sums it up.
            var summary: [String: Any]
            var metrics: String
            /// What the router received.
            var file: String
            var saidGoodbye: Bool
        }

        private static let verdict =
            "the encoder's machine skipped 12 % of its frames: use a faster preset; the uplink dropped 8 %: lower the bitrate"

        @Test(.timeLimit(.minutes(10)))
        func `figures and verdict are those that were put in, and the messages go on as they came`() throws {
            try Self.checkFigures(through: { $0 })
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Forky.reason))
        func `ffmpeg 9 hands the messages on as well`() throws {
            try Self.checkFigures(through: { Forky.command($0) })
        }

        private static func checkFigures(through command: ([String]) -> [String]) throws {
            // The first report tells of the time before; the clip has three keyframes.
            let clip = try Self.clip(["9000,9000,9000,9000,9000,9000,0", "150,1,300,24,150,18,132"])
            let outcome = try Self.publish(clip, through: command)
            let figures = Session.Encoder(
                rendered: 300, lagged: 2, input: 300, skipped: 36, encoded: 264, output: 600, dropped: 48, verdict: Self.verdict,
                culprit: "encoding")
            #expect(outcome.session.encoder == figures)
            #expect(outcome.session.story.warnings.map(\.rule) == ["encoder"])
            #expect(outcome.session.story.warnings.first?.sentence == Self.verdict)
            #expect(outcome.summary["encoder_skipped"] as? Int == 36 && outcome.summary["encoder_dropped"] as? Int == 48)
            #expect(outcome.summary["encoder_verdict"] as? String == Self.verdict)
            for (state, count) in [
                ("rendered", 300), ("lagged", 2), ("input", 300), ("skipped", 36), ("output", 600), ("dropped", 48),
            ] {
                #expect(
                    outcome.metrics.contains("stagedoor_encoder_frames_total{protocol=\"rtmp\",state=\"\(state)\"} \(count)\n"))
            }
            try MediaFile.expectFrames(of: clip.path, in: outcome.file, saidGoodbye: outcome.saidGoodbye)
            let received = try Data(contentsOf: URL(filePath: outcome.file))
            #expect(Self.count(of: Self.sessionIdentifier, in: received) == 3)
        }

        @Test(.timeLimit(.minutes(10)))
        func `malformed messages with every picture change nothing`() throws {
            let clip = try Self.clip(["--malformed"])
            let outcome = try Self.publish(clip)
            #expect(outcome.session.encoder.verdict == nil && outcome.session.encoder.skipped == 0)
            #expect(outcome.session.story.warnings.isEmpty)
            #expect(outcome.summary["encoder_verdict"] == nil)
            // ffmpeg closes with answers unread: its kernel then resets, and drops what of its goodbye it has not sent.
            let reason = outcome.summary["reason"] as? String
            #expect(["unpublished", "connection_lost"].contains(reason))
            #expect(((outcome.saidGoodbye ? 180 : 90)...180).contains(outcome.summary["video_frames"] as? Int ?? 0))
            try MediaFile.expectFrames(of: Clip.p30.file(), in: outcome.file, saidGoodbye: outcome.saidGoodbye)
        }

        private static let sessionIdentifier = Data([
            0xCA, 0x60, 0xE7, 0x1C, 0x6A, 0x8B, 0x43, 0x88, 0xA3, 0x77, 0x15, 0x1D, 0xF7, 0xBF, 0x8A, 0xC2,
        ])

        private static func count(of part: Data, in whole: Data) -> Int {
            var (count, start) = (0, whole.startIndex)
            while let found = whole.range(of: part, in: start..<whole.endIndex) { (count, start) = (count + 1, found.upperBound) }
            return count
        }

        private static func clip(_ options: [String]) throws -> URL {
            let source = try Clip.p30.file()
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/bpm_clip.py").path
            let file = Workspace.temporaryFile(suffix: ".flv")
            _ = try ProgramRun.output(of: ["/usr/bin/python3", script, source, file.path] + options, within: .seconds(60))
            return file
        }

        /// - Parameter command: makes of an ffmpeg line the one that is run.
        private static func publish(_ clip: URL, through command: ([String]) -> [String] = { $0 }) throws -> Outcome {
            let gateway = try Gateway()
            let capture = try Capture(gateway.sessionDescription)
            let line = [
                "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "error", "-re", "-i", clip.path, "-c", "copy", "-f",
                "flv", gateway.quickstart.publishURL,
            ]
            let encoder = try ProgramRun(command(line))
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            expect("a summary", within: .seconds(60)) { gateway.log.contains("\"session_ended\"") }
            capture.finish()
            let last = try #require(gateway.log.split(separator: "\n").last { $0.contains("\"session_ended\"") })
            let summary = try #require(JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
            let told = try gateway.signedAdmin("v1/sessions/\(try #require(summary["session"] as? String))")
            let session = try JSONDecoder().decode(Session.self, from: Data(told.utf8))
            let metrics = try gateway.admin("metrics")
            gateway.stop()
            return Outcome(
                session: session, summary: summary, metrics: metrics, file: capture.file.path,
                saidGoodbye: summary["reason"] as? String == "unpublished")
        }
    }
}
