import Foundation
import TestSupport
import Testing

extension Interop {
    /// The control API of the real program, before real clients.
    @Suite struct ControlAPI {
        static let openRates = """
            rates: {resources: 100000, tokens: 100000, publicKeys: 100000, tags: 100000}
            quotas: {stages: 100000, ingestConfigurations: 1000}
            """

        private func client(_ gateway: Gateway, _ command: String, _ options: [String] = []) throws -> ProgramRun {
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/control_api.py").path
            let quickstart = gateway.quickstart
            let admin = try #require(quickstart.adminURL)
            let (id, secret) = (try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey))
            return try ProgramRun(["env", Self.path, "python3", script, command, admin, id, secret] + options)
        }

        /// The packages that scripts/install-deps put aside come first.
        static var path: String {
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return "PATH=" + Workspace.package.appending(path: ".deps/venv/bin").path + ":" + path
        }

        @Test(.timeLimit(.minutes(10)))
        func `boto3 and the AWS CLI walk the guide`() throws {
            let gateway = try Gateway()
            let walk = try client(gateway, "walk", ["--cli"])
            #expect(walk.status(within: .seconds(300)) == 0, "\(walk.output)")
            gateway.stop()
        }

        /// Whose servers are asked of one stage at a time: the guide has an ingest configuration that belongs to none.
        @Test(.timeLimit(.minutes(10)))
        func `boto3 walks the guide on a node behind a Redis Cluster`() throws {
            let cluster = try RedisCluster(["appendonly yes", "appendfsync always"])
            try expect("the cluster agrees", within: .seconds(60)) { try cluster.isReady() }
            let servers = cluster.servers.map { "\"127.0.0.1:\($0.port)\"" }.joined(separator: ", ")
            let platform = try Platform(1, redis: cluster.servers[0], servers: "redis: [\(servers)], topology: cluster")
            let walk = try client(platform.nodes[0], "walk")
            #expect(walk.status(within: .seconds(300)) == 0, "\(walk.output)")
            #expect(try cluster.isReady())
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a key made a moment ago publishes, and its participant can be cut off`() throws {
            let gateway = try Gateway()
            let stage = try #require(gateway.quickstart.stageArn)
            let options = ["--ingest-protocol", "RTMP", "--insecure-ingest", "--stage-arn", stage]
            let made = try aws(gateway, "create-ingest-configuration", options)
            let configuration = try #require(made["ingestConfiguration"] as? [String: Any])
            let key = try #require(configuration["streamKey"] as? String)
            let participant = try #require(configuration["participantId"] as? String)
            let arn = try #require(configuration["arn"] as? String)
            let target = "\(gateway.quickstart.rtmpURL)/\(key)"
            let encoder = try Encoder.ffmpeg(.p30, to: target, seconds: Encoder.untilStopped)
            try expect("the configuration is active", within: .seconds(60)) {
                let shown = try aws(gateway, "get-ingest-configuration", ["--arn", arn])
                return (shown["ingestConfiguration"] as? [String: Any])?["state"] as? String == "ACTIVE"
            }
            letPass(.seconds(3))
            let who = ["--stage-arn", stage, "--participant-id", participant, "--reason", "enough"]
            _ = try aws(gateway, "disconnect-participant", who)
            #expect(encoder.status(within: .seconds(60)) != nil, "the encoder is cut")
            let again = try Encoder.ffmpeg(.p30, to: target)
            let status = try #require(again.status(within: .seconds(60)))
            #expect(status != 0)
            #expect(again.output.contains("SD-1002"), "\(again.output)")
            let walk = try client(gateway, "walk")
            #expect(walk.status(within: .seconds(300)) == 0, "sessions and events conform: \(walk.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `the samples that the AWS CLI ships are answered in the shape that they print`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let encoder = try Encoder.ffmpeg(.p30, to: quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let stage = try #require(quickstart.stageArn)
            try expect("its participant", within: .seconds(60)) { try session(gateway, stage) != nil }
            try filters(gateway, stage, quickstart.participantId)
            let samples = try ProgramRun(
                ["env", Self.path, "python3", Workspace.package.appending(path: "Tests/Interop/Clients/cli_samples.py").path]
                    + [try #require(quickstart.adminURL), try #require(quickstart.accessKeyId)]
                    + [try #require(quickstart.secretAccessKey), stage, quickstart.participantId])
            #expect(samples.status(within: .seconds(400)) == 0, "\(samples.output)")
            #expect(encoder.status(within: .seconds(60)) != nil, "the last sample disconnects the participant")
            gateway.stop()
        }

        private func session(_ gateway: Gateway, _ stage: String) throws -> String? {
            let sessions = try aws(gateway, "list-stage-sessions", ["--stage-arn", stage])["stageSessions"] as? [[String: Any]]
            return sessions?.first?["sessionId"] as? String
        }

        /// Each filter of ListParticipants with what matches the live participant, and with what does not.
        private func filters(_ gateway: Gateway, _ stage: String, _ participant: String) throws {
            let session = try #require(try session(gateway, stage))
            let filters: [([String], Bool)] = [
                (["--filter-by-published"], true), (["--no-filter-by-published"], false),
                (["--filter-by-state", "CONNECTED"], true), (["--filter-by-state", "DISCONNECTED"], false),
                (["--filter-by-user-id", "nobody"], false), (["--filter-by-recording-state", "ACTIVE"], false),
            ]
            for (filter, matches) in filters {
                let options = ["--stage-arn", stage, "--session-id", session] + filter
                let found = try aws(gateway, "list-participants", options)["participants"] as? [[String: Any]]
                let ids = found?.compactMap { $0["participantId"] as? String }
                #expect(ids == (matches ? [participant] : []), "\(filter)")
            }
        }

        private func aws(_ gateway: Gateway, _ operation: String, _ options: [String]) throws -> [String: Any] {
            let quickstart = gateway.quickstart
            let admin = try #require(quickstart.adminURL)
            let environment = [
                Self.path, "AWS_ACCESS_KEY_ID=\(quickstart.accessKeyId ?? "")", "AWS_DEFAULT_REGION=us-east-1",
                "AWS_SECRET_ACCESS_KEY=\(quickstart.secretAccessKey ?? "")",
            ]
            let run = try ProgramRun(
                ["env"] + environment + ["aws", "ivs-realtime", operation, "--endpoint-url", admin, "--output", "json"] + options)
            #expect(run.status(within: .seconds(300)) == 0, "\(run.output)")
            return (try? JSONSerialization.jsonObject(with: Data(run.output.utf8))) as? [String: Any] ?? [:]
        }

        /// A free UDP port may be taken for TCP by somebody else just then: over many starts that happens.
        private func start(on data: URL) throws -> Gateway {
            for _ in 0..<5 {
                if let gateway = try? Gateway(configuration: Self.openRates, data: data) { return gateway }
            }
            return try Gateway(configuration: Self.openRates, data: data)
        }

        /// `STAGEDOOR_KILLS=200` for the long form.
        private static var kills: Int { ProcessInfo.processInfo.environment["STAGEDOOR_KILLS"].flatMap { Int($0) } ?? 20 }

        @Test(.timeLimit(.minutes(15)))
        func `a killed gateway has every write that it acknowledged, and none in parts`() throws {
            let data = Workspace.temporaryFile(suffix: ".data")
            var acknowledged = Set<String>()
            for round in 0..<Self.kills {
                let gateway = try start(on: data)
                let writer = try client(gateway, "write", ["r\(round)"])
                _ = holds(within: .seconds(60)) { writer.output.contains("\n") }
                letPass(.milliseconds(.random(in: 0...60)))
                gateway.kill()
                #expect(writer.status(within: .seconds(60)) != nil)
                acknowledged.formUnion(writer.output.split(separator: "\n").map(String.init))
            }
            let gateway = try start(on: data)
            let reader = try client(gateway, "names")
            #expect(reader.status(within: .seconds(60)) == 0)
            let kept = Set(reader.output.split(separator: "\n").map(String.init))
            #expect(acknowledged.count > Self.kills)
            #expect(acknowledged.subtracting(kept).isEmpty)
            #expect(!kept.contains { $0.hasPrefix("PART") && !$0.contains("demo") })
            gateway.stop()
        }
    }
}
