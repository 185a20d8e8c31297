import Foundation
import Testing

extension Interop {
    /// A crowd that comes and goes, by the bench's WHEP clients.
    @Suite struct ShortViewers {
        @Test(.timeLimit(.minutes(20)))
        func `each of 100 short viewers gets media, and all have left`() throws {
            let gateway = try Gateway(configuration: WHEPCrowd.room)
            let crowd = try WHEPCrowd(gateway)
            let seen = try crowd.watch(100, at: 8, within: .seconds(900))
            #expect(seen.viewers == 100 && seen.silent == 0 && seen.failures.isEmpty, "\(seen)")
            #expect(seen.packets > 100)
            try crowd.expectLeft(100)
            crowd.end()
        }
    }
}

extension UnderLoad {
    @Suite struct Crowd {
        static let viewers = 2_000

        @Test(.timeLimit(.minutes(20)))
        func `2,000 short viewers of one stage in a minute beside 50 publishers lose nothing and leave nothing`() throws {
            let gateway = try Gateway(configuration: WHEPCrowd.room, participants: 60)
            let crowd = try WHEPCrowd(gateway)
            let (keys, clip) = (try gateway.makeStreamKeys(stages: 5, each: 10), try Clip.full.file())
            let receiver = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "receive", "--ports",
                "\(gateway.routerPorts.lowerBound)-\(gateway.routerPorts.upperBound)", "--seconds", "600", "--idle", "2",
            ])
            expect("the receiver is ready", within: .seconds(10)) { receiver.output.contains("receiving") }
            let publishers = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", keys.path, "--flv", clip,
                "--seconds", "\(Encoder.untilStopped)",
            ])
            // What is made once for all, is made by the first ones.
            #expect(try crowd.watch(200, at: 40, within: .seconds(120)).failures.isEmpty)
            let before = gateway.residentKilobytes
            let seen = try crowd.watch(Self.viewers, at: 40, within: .seconds(300))
            let grown = gateway.residentKilobytes - before
            print("\(Self.viewers) viewers in \(Int(seen.seconds)) s, \(seen.packets) packets, \(grown) kB more\n\(seen)")
            #expect(seen.viewers == Self.viewers && seen.silent == 0 && seen.lost == 0, "\(seen)")
            #expect(seen.seconds <= 90)
            // What is remembered of them, with nothing for each that has gone: less than 8 kB each.
            #expect(grown < 16_000)
            publishers.interrupt()
            #expect(publishers.status(within: .seconds(60)) != nil)
            crowd.end()
            #expect(receiver.status(within: .seconds(60)) == 0, "\(receiver.output)")
            let received = try JSONDecoder().decode(Received.self, from: Data(receiver.lastLine.utf8))
            #expect(received.sources >= 100 && received.lost - received.droppedByKernel <= 0, "\(received)")
        }

        private struct Received: Decodable {
            var sources: Int
            var lost: Int
            var droppedByKernel: Int
        }
    }
}

/// One publisher of quickstart's stage, and viewers of it whose tokens are made by the control API.
private struct WHEPCrowd {
    let gateway: Gateway
    private let encoder: ProgramRun

    /// One address is a crowd here, and makes its tokens in one go.
    static let room = """
        rates: {resources: 10000, tokens: 10000}
        quotas: {ingestConfigurations: 1000}
        limits: {connectionsPerAddress: 1000}
        embedded: {maximumSubscribers: 500, subscribersPerStage: 500}
        """

    struct Seen: Decodable {
        var viewers: Int
        var failures: [String: Int]
        var silent: Int
        var seconds: Double
        var packets: Int
        var lost: Int
    }

    init(_ gateway: Gateway) throws {
        self.gateway = gateway
        encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
        expect("a live stream", within: .seconds(120)) { gateway.log.contains("\"rtmp_publish_granted\"") }
    }

    func watch(_ count: Int, at concurrency: Int, within limit: Duration) throws -> Seen {
        let quickstart = gateway.quickstart
        let (whip, stage) = (try #require(quickstart.whipURL), try #require(quickstart.stageId))
        let run = try ProgramRun([
            try Workspace.program("stagedoor-bench"), "whep",
            whip.replacing(/\/whip$/, with: "/whep/\(stage)/\(quickstart.participantId)"), "--viewers", "\(count)",
            "--concurrency", "\(concurrency)", "--admin", try #require(quickstart.adminURL), "--access-key",
            try #require(quickstart.accessKeyId), "--secret", try #require(quickstart.secretAccessKey), "--region",
            quickstart.region ?? "us-east-1", "--stage", try #require(quickstart.stageArn),
        ])
        #expect(run.status(within: limit) == 0, "\(run.output)")
        return try JSONDecoder().decode(Seen.self, from: Data(run.lastLine.utf8))
    }

    /// As the API shows them: every one a participant that is gone.
    func expectLeft(_ count: Int) throws {
        let stage = try #require(gateway.quickstart.stageArn)
        let sessions = try gateway.answer("list-stage-sessions", ["--stage-arn", stage])["stageSessions"] as? [[String: Any]]
        let session = try #require(sessions?.first?["sessionId"] as? String)
        try expect("all have left", within: .seconds(120)) {
            let options = [
                "--stage-arn", stage, "--session-id", session, "--filter-by-state", "DISCONNECTED", "--max-results", "100",
            ]
            return (try gateway.answer("list-participants", options)["participants"] as? [Any])?.count == count
        }
    }

    func end() {
        encoder.kill()
        gateway.stop()
    }
}
