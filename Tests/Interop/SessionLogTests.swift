import Foundation
import Testing

extension Interop {
    /// The log of the running program: a line for each change of state, and one that sums up each publish.
    @Suite struct SessionLog {
        private typealias Line = [String: Any]

        @Test(.timeLimit(.minutes(10)))
        func `every line is JSON, those of a session share its id, and the last sums it up`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let encoder = try Encoder.ffmpeg(.p30, to: quickstart.publishURL)
            #expect(encoder.status(within: .seconds(60)) == 0)
            expect("a summary", within: .seconds(60)) { gateway.log.contains("\"session_ended\"") }
            let lines = try Self.lines(of: gateway.log)
            let summary = try #require(lines.last { $0["event"] as? String == "session_ended" })
            let session = try #require(summary["session"] as? String)
            let events = lines.filter { $0["session"] as? String == session }.compactMap { $0["event"] as? String }
            #expect(events.contains("rtmp_publish_granted"), "\(events)")
            #expect(summary["participant"] as? String == quickstart.participantId)
            #expect(summary["protocol"] as? String == "rtmp")
            #expect(summary["picture"] as? String == "1280x720")
            // ffmpeg closes with answers unread: its kernel then resets, and drops what of its goodbye it has not sent.
            #expect(["unpublished", "connection_lost"].contains(summary["reason"] as? String))
            #expect((summary["verdict"] as? String)?.isEmpty == false)
            let duration = try #require(summary["duration_s"] as? Double)
            let saidGoodbye = summary["reason"] as? String == "unpublished"
            #expect(duration >= (saidGoodbye ? 5 : 2), "\(summary)")
            #expect(((saidGoodbye ? 170 : 90)...181).contains(try #require(summary["video_frames"] as? Int)), "\(summary)")
            // Of what takes 6 s where the machine has time.
            let bits = Double(try #require(summary["bitrate_bps"] as? Int)) * duration
            #expect((1_800_000...9_000_000).contains(bits), "\(summary)")
            #expect(try #require(summary["packets"] as? Int) > 200)
            #expect(summary["lost_packets"] as? Int == 0)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a refusal has its code, its sentence and the encoder, and no key`() throws {
            let gateway = try Gateway()
            let key = "sk_us-east-1_nobodyKnowsThis_0123456789abcdef"
            _ = try Encoder.ffmpeg(.p30, to: "\(gateway.quickstart.rtmpURL)/\(key)").status(within: .seconds(60))
            var refusal: [String: Any] = [:]
            // Lines that follow soon share a write: the encoder may be gone a moment before its line is there.
            try expect("the refusal is in the log", within: .seconds(60)) {
                refusal = try Self.lines(of: gateway.log).first { $0["event"] as? String == "rtmp_publish_refused" } ?? [:]
                return !refusal.isEmpty
            }
            #expect((refusal["code"] as? String)?.hasPrefix("SD-") == true)
            #expect((refusal["sentence"] as? String)?.isEmpty == false)
            #expect((refusal["agent"] as? String)?.contains("Lavf") == true)
            #expect(refusal["session"] is String && refusal["source"] is String)
            #expect(!gateway.log.contains(key))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a refused POST of WHIP has its code, its sentence and the encoder, and no token`() throws {
            let gateway = try Gateway()
            let token = "nobodyKnowsThisToken0123456789"
            let offer = ["-H", "Content-Type: application/sdp", "--data-binary", "v=0", try #require(gateway.quickstart.whipURL)]
            for credential in [[], ["-H", "Authorization: Bearer \(token)"]] {
                let arguments = ["curl", "-sS", "-i", "--max-time", "50", "-A", "OBS-Studio/32"] + credential + offer
                let answer = try ProgramRun.output(of: arguments, within: .seconds(60))
                #expect(answer.contains(#/HTTP/1\.1 401 SD-1(120|009):/#), "\(answer)")
            }
            try expect("both refusals are in the log", within: .seconds(60)) {
                try Self.lines(of: gateway.log).count { $0["event"] as? String == "whip_refused" } == 2
            }
            let refusals = try Self.lines(of: gateway.log).filter { $0["event"] as? String == "whip_refused" }
            #expect(refusals.map { $0["code"] as? String } == ["SD-1120", "SD-1009"])
            for refusal in refusals {
                #expect((refusal["sentence"] as? String)?.contains("token") == true)
                #expect(refusal["user_agent"] as? String == "OBS-Studio/32" && refusal["remote"] is String)
            }
            #expect(!gateway.log.contains(token))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `on a terminal the log is text for people`() throws {
            let folder = Workspace.temporaryFile(suffix: ".data")
            let settings = Workspace.temporaryFile(suffix: ".yaml")
            try """
            http: {listen: "127.0.0.1:0"}
            https: {listen: "127.0.0.1:0"}
            rtmp: {listen: "127.0.0.1:0"}
            media: {listen: "127.0.0.1:0"}
            admin: {listen: "127.0.0.1:0"}
            """.write(to: settings, atomically: true, encoding: .utf8)
            let command =
                "exec timeout -s INT 90 '\(try Workspace.program("stagedoor"))' serve --config '\(settings.path)' --data '\(folder.path)'"
            let run = try ProgramRun(["script", "-qec", command, "/dev/null"])
            #expect(
                holds(within: .seconds(60)) { run.output.contains(/\d\d:\d\d:\d\d\.\d{3} INFO +started version=/) },
                "\(run.output)")
            #expect(!run.output.contains("{\"time\""))
            run.kill()
        }

        /// Quickstart's invitation stands before the log; every line that begins like JSON must be.
        private static func lines(of log: String) throws -> [Line] {
            try log.split(separator: "\n").filter { $0.hasPrefix("{") }.map { text in
                let line = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? Line, "\(text)")
                for member in ["time", "level", "event"] { #expect(line[member] is String, "\(text)") }
                return line
            }
        }
    }
}
