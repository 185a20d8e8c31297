import Foundation
import Testing

extension Interop.MediaContract {
    /// A publish starts when it is real: a decodable keyframe, both tracks by RTMP, and a second of media after it.
    @Suite struct PublishStart {
        private static let fine = ContractClip(
            "fine", ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.baseline + ContractClip.aac)
        private static let videoOnly = ContractClip("video", ContractClip.picture("320x180") + ContractClip.baseline)
        private static let audioOnly = ContractClip("audio", ContractClip.sound() + ContractClip.aac)
        /// Joined in the middle of a group of pictures that never ends.
        private static let withoutKeyframe = ContractClip(
            "no keyframe",
            ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.baseline + ContractClip.aac
                + ["-g", "9999", "-bsf:v", "noise=drop=eq(n\\,0)"])

        @Test(.timeLimit(.minutes(10)))
        func `connections that never get there leave no event and no session`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 20)
            let rows: [(name: String, route: ContractClip.Route, clip: ContractClip, seconds: Double)] = [
                ("bandwidth test", .rtmp, Self.fine, 0.6), ("bandwidth test", .whip, Self.fine, 0.6),
                ("no sound", .rtmp, Self.videoOnly, 3), ("no picture", .rtmp, Self.audioOnly, 3),
                ("no keyframe", .rtmp, Self.withoutKeyframe, 4), ("no keyframe", .whip, Self.withoutKeyframe, 4),
            ]
            let publishers = try gateway.makePublishers(rows.indices.map { "start-\($0)" })
            let runs = try zip(rows, publishers).map { row, publisher in
                try Self.push(row.clip, by: row.route, seconds: row.seconds, publisher, gateway)
            }
            for (row, run) in zip(rows, runs) {
                #expect(run.status(within: .seconds(60)) == 0, "\(row.name) by \(row.route): \(run.output)")
            }
            expect("all have been live", within: .seconds(60)) {
                gateway.logged("rtmp_publish_ended").count + gateway.logged("whip_ended").count == rows.count
            }
            #expect(try gateway.events().map(\.name) == [])
            for (row, publisher) in zip(rows, publishers) {
                let sessions = try gateway.signed(
                    "ListStageSessions",
                    ["-H", "Content-Type: application/json", "--data", "{\"stageArn\":\"\(publisher.stageArn)\"}"])
                #expect(sessions.contains("\"stageSessions\":[]"), "\(row.name) by \(row.route): \(sessions)")
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)), arguments: [ContractClip.Route.rtmp, .whip])
        func `a publish has started after a second of media, once`(_ route: ContractClip.Route) throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany)
            let publisher = try gateway.makePublishers(["one"])[0]
            let run = try Self.push(Self.fine, by: route, seconds: 4, publisher, gateway)
            #expect(run.status(within: .seconds(60)) == 0, "\(run.output)")
            let events = try gateway.events { $0.count >= 2 }
            #expect(events.map(\.name) == ["Participant Published", "Participant Unpublished"])
            let begin = route == .rtmp ? gateway.logged("rtmp_publish_granted") : gateway.logged("whip_connected")
            let granted = try #require(begin.first.map(\.time))
            let elapsed = try Self.seconds(from: granted, to: try #require(events.first?.time))
            // The last of the pictures of that second leaves a moment before the second is over.
            #expect(elapsed > 0.9)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)), arguments: ["off", "warn"])
        func `one track by RTMP is a publish where the stage's contract lets the other be missing`(_ action: String) throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany)
            let clips = [Self.videoOnly, Self.audioOnly]
            let publishers = try gateway.makePublishers(["video", "audio"], stageTags: ["stagedoor:rule.tracks": action])
            let runs = try zip(clips, publishers).map { try Self.push($0, by: .rtmp, seconds: 8, $1, gateway) }
            for run in runs { #expect(run.status(within: .seconds(60)) == 0, "\(run.output)") }
            for publisher in publishers {
                let events = try gateway.events(of: publisher.rtmpParticipantId) { $0.last?.name == "Participant Unpublished" }
                #expect(
                    events.map(\.name).filter { $0 != "Participant Publish Warning" } == [
                        "Participant Published", "Participant Unpublished",
                    ])
                #expect(events.compactMap(\.rule) == (action == "warn" ? ["tracks"] : []))
            }
            gateway.stop()
        }

        private static func push(
            _ clip: ContractClip, by route: ContractClip.Route, seconds: Double, _ publisher: Publisher, _ gateway: Gateway
        ) throws -> ProgramRun {
            let (url, credential) =
                route == .rtmp
                ? (gateway.quickstart.rtmpURL, ["--key", publisher.streamKey])
                : (try #require(gateway.quickstart.whipURL), ["--token", publisher.token])
            return try ProgramRun(
                [try Workspace.program("stagedoor-bench"), route == .rtmp ? "rtmp" : "whip", url] + credential
                    + ["--flv", try clip.file().path, "--seconds", "\(seconds)"])
        }

        private static func seconds(from start: String, to end: String) throws -> Double {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            return try style.parse(end).timeIntervalSince(try style.parse(start))
        }
    }
}
