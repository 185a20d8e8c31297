import Foundation
import TestSupport
import Testing

extension Interop {
    /// Three gateways that share a Redis are one platform.
    @Suite struct Cluster {
        @Test(.timeLimit(.minutes(10)))
        func `what one node makes is taken by the others, and shown the same`() throws {
            let platform = try Platform()
            let asked = try platform.client("visible", [Platform.isWhole ? "100" : "6"])
            let visible = try asked.report(Visible.self, within: .seconds(300))
            print("visible at other nodes: \(asked.lastLine)")
            if Platform.isWhole { #expect(visible.medianMs < 100) }
            let stage = try #require(platform.nodes[0].quickstart.stageArn)
            let shown = try platform.nodes.map { try $0.aws("get-stage", ["--arn", stage]) }
            #expect(shown[0].contains(stage))
            let names = try platform.client("names").report(Names.self, within: .seconds(300))
            #expect(names.isSame && names.names.count > visible.rounds)
            platform.stop()
        }

        /// As of a data directory, or a variable, that was copied with the rest.
        @Test(.timeLimit(.minutes(10)))
        func `of two nodes that have one name it is told`() throws {
            let platform = try Platform(1)
            let double = try platform.double(of: 0)
            expect("one of them finds the other's record\n\(double.log)", within: .seconds(60)) {
                [platform.nodes[0], double].contains { $0.count(of: "cluster_name_taken") == 1 }
            }
            double.stop()
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `twelve publish over three nodes, whoever comes first, and end through any`() throws {
            // What a node passes on comes from 127.0.0.1, in the name of the publisher's own address.
            let platform = try Platform(extra: "trustedProxies: [127.0.0.1/32]")
            let asked = try platform.client("race", [Platform.isWhole ? "200" : "15"])
            let race = try asked.report(Race.self, within: .seconds(200))
            print("races over three nodes: \(asked.lastLine)")
            #expect(race.admitted.keys.sorted() == ["12"])
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a participant is cut off through another node`() throws {
            let platform = try Platform()
            let rounds = Platform.isWhole ? 20 : 2
            var waits: [Double] = []
            let publishers = try platform.nodes[0].makePublishers((0..<rounds).map { "cut-\($0)" })
            for publisher in publishers {
                let node = platform.nodes[1]
                let target = "\(node.quickstart.rtmpURL)/\(publisher.streamKey)"
                let encoder = try Encoder.ffmpeg(.p30, to: target, seconds: Encoder.untilStopped)
                expect("live\n\(node.log.suffix(2_000))", within: .seconds(60)) {
                    node.logged("rtmp_publish_granted").contains { $0.participant == publisher.rtmpParticipantId }
                }
                let cut = try platform.client("cut", [publisher.stageArn, publisher.rtmpParticipantId])
                    .report(Cut.self, within: .seconds(300))
                expect("cut off", within: .seconds(60)) { node.endOfRTMP(publisher.rtmpParticipantId) != nil }
                let ended = try #require(node.endOfRTMP(publisher.rtmpParticipantId).flatMap { Self.time($0.time) })
                waits.append(ended.timeIntervalSince1970 * 1_000 - cut.asked)
                #expect(encoder.status(within: .seconds(60)) != nil)
            }
            print("cut off through another node, milliseconds after the request: \(waits.map { $0.rounded() })")
            if Platform.isWhole { #expect(waits.sorted()[waits.count / 2] < 200) }
            let again = try Encoder.ffmpeg(
                .p30, to: "\(platform.nodes[0].quickstart.rtmpURL)/\(publishers[0].streamKey)", seconds: 5)
            #expect(again.status(within: .seconds(60)) != 0, "its stream key belongs to no stage any more")
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `TLS is spoken with the servers, which ask for a certificate`() throws {
            let files = try RedisCertificateFiles()
            defer { files.remove() }
            let port = FreePorts.tcp()
            let redis = try RedisServer(["appendonly yes", "appendfsync always"] + files.serverConfiguration(port: port))
            let shown = ", redisCertificate: \(files.path("node.pem")), redisPrivateKey: \(files.path("node.key"))"
            let servers = "redis: [\"localhost:\(port)\"], redisTLS: true, redisCertificateAuthority: \(files.path("ca.pem"))"
            let platform = try Platform(2, redis: redis, servers: servers + shown)
            _ = try platform.client("visible", ["2"]).report(Visible.self, within: .seconds(300))
            let clients = try redis.ask("CLIENT", "LIST").split(separator: "\n").filter { $0.contains("name=stagedoor-") }
            #expect(clients.count >= 2 && clients.allSatisfy { $0.contains(" laddr=127.0.0.1:\(port) ") }, "\(clients)")
            #expect(try platform.command(["doctor"]).contains("cluster.redis: 127.0.0.1:\(port)"))
            platform.stop()

            let unshown = try Platform(0, redis: redis, servers: servers)
            let refused = try unshown.command(["doctor"]).split(separator: "\n").filter { $0.contains("cluster.redis: ") }
            #expect(refused.count == 1 && refused[0].contains("certificate required"), "\(refused)")
        }

        private static func time(_ text: String) -> Date? {
            try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
    }

    /// What `cluster.py visible` tells.
    struct Visible: Decodable {
        var rounds: Int
        var publishedAtOnce: Int
        var medianMs: Double
        var mostMs: Double

        private enum CodingKeys: String, CodingKey {
            case rounds
            case publishedAtOnce = "published_at_once"
            case medianMs = "median_ms"
            case mostMs = "most_ms"
        }
    }

    struct Names: Decodable {
        var names: [String]
        var isSame: Bool
    }

    /// What `cluster.py cut` tells.
    struct Cut: Decodable { var asked: Double }

    struct Race: Decodable { var admitted: [String: Int] }

    /// What `cluster.py events` tells.
    struct Told: Decodable {
        struct Participant: Decodable {
            var state: String
            var events: [String]

            func count(_ name: String) -> Int { events.count { $0 == name } }
        }

        var participants: [String: Participant]
        var isSame: Bool
    }
}

extension Gateway {
    /// The AWS CLI's answer.
    func aws(_ operation: String, _ options: [String]) throws -> String {
        let path = Workspace.package.appending(path: ".deps/venv/bin").path
        return try ProgramRun.output(
            of: nearby(
                [
                    "env", "PATH=\(path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")", "AWS_DEFAULT_REGION=us-east-1",
                    "AWS_ACCESS_KEY_ID=\(try #require(quickstart.accessKeyId))",
                    "AWS_SECRET_ACCESS_KEY=\(try #require(quickstart.secretAccessKey))",
                    "aws", "ivs-realtime", operation, "--endpoint-url", try #require(quickstart.adminURL), "--output", "json",
                ] + options), within: .seconds(300))
    }
}
