import Foundation
import Testing

extension Interop.MediaContract {
    /// Rules that an operator sets: for all, for one stage, and while streams are live.
    @Suite struct Rules {
        @Test(.timeLimit(.minutes(10)))
        func `a stage's tags override limits and actions, for that stage alone`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 20)
            let bFrames = try #require(ContractClip.bad.first { $0.name == "B-frames" })
            let fine = try #require(ContractClip.good.first)
            let rows: [(name: String, clip: ContractClip, tags: [String: String], code: String?)] = [
                ("plain", fine, [:], nil),
                ("slow", fine, ["stagedoor:maxVideoBitrate": "300000"], "SD-1045"),
                ("small", fine, ["stagedoor:maxResolution": "640x360"], "SD-1043"),
                ("tolerant", bFrames, ["stagedoor:rule.bFrames": "warn", "stagedoor:rule.videoProfile": "off"], nil),
                ("strict", bFrames, ["stagedoor:maxResolution": "1920x1080"], "SD-1042"),
                ("nonsense", fine, ["stagedoor:maxVideoBitrate": "fast", "stagedoor:colour": "blue"], nil),
            ]
            let runs = try rows.map { row in
                let publisher = try gateway.makePublishers([row.name], stageTags: row.tags)[0]
                return (row, try Self.push(row.clip, seconds: 6, to: gateway, key: publisher.streamKey))
            }
            for (row, run) in runs {
                let status = try #require(run.status(within: .seconds(60)))
                #expect((status == 0) == (row.code == nil), "\(row.name): \(run.output)")
                if let code = row.code { #expect(run.output.contains(code), "\(row.name): \(run.output)") }
            }
            let events = try gateway.events { $0.contains { $0.rule != nil } }
            #expect(events.filter { $0.name == "Participant Publish Warning" }.map(\.rule) == ["bFrames"])
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a limit that changes holds for live streams of both protocols, and forgets what it refused`() throws {
            let gateway = try Gateway(
                configuration: Gateway.roomForMany + "\ncontract: {maximumResolution: {limit: 921600}}", participants: 10)
            let publisher = try gateway.makePublishers(["live"])[0]
            let clip = try #require(ContractClip.good.first)
            let encoder = try Self.push(clip, seconds: Encoder.untilStopped, to: gateway, key: publisher.streamKey)
            let browser = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
                publisher.token, "--flv", try clip.file().path, "--seconds", "\(Encoder.untilStopped)",
            ])
            try expect("both are live", within: .seconds(60)) {
                try gateway.events().count { $0.name == "Participant Published" } == 2
            }
            try gateway.change("limit: 921600", to: "limit: 230400")
            for run in [encoder, browser] {
                #expect(run.status(within: .seconds(60)).map { $0 != 0 } == true, "\(run.output)")
            }
            #expect(encoder.output.contains("SD-1043"), "\(encoder.output)")
            #expect(encoder.output.contains("1280x720 pixels (at most 230400"), "\(encoder.output)")
            expect("the story of it", within: .seconds(60)) {
                gateway.endOfWHIP(publisher.whipParticipantId)?.verdict?.contains("SD-1043") == true
            }

            let reloads = gateway.logged("reloaded").count
            try gateway.change("limit: 230400", to: "limit: 921600")
            expect("the reload", within: .seconds(60)) { gateway.logged("reloaded").count > reloads }
            let again = try Self.push(clip, seconds: 3, to: gateway, key: publisher.streamKey)
            #expect(again.status(within: .seconds(60)) == 0, "\(again.output)")
            gateway.stop()
        }

        static func push(_ clip: ContractClip, seconds: Int, to gateway: Gateway, key: String) throws -> ProgramRun {
            try ProgramRun([
                "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-stream_loop", "-1", "-i",
                try clip.file().path, "-c", "copy", "-t", "\(seconds)", "-f", "flv", "\(gateway.quickstart.rtmpURL)/\(key)",
            ])
        }
    }
}
