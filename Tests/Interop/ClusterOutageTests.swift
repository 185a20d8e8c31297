import Foundation
import TestSupport
import Testing

extension Interop {
    /// The servers that nodes share stop, or go away: streams go on.
    @Suite(.serialized) struct ClusterOutage {
        private static let streams = Platform.isWhole ? 60 : 6

        @Test(.timeLimit(.minutes(3)))
        func `no stream notices that the server is killed, started again, and paused`() throws {
            let platform = try Platform()
            let publishers = try publish(on: platform, seconds: Platform.isWhole ? 110 : 60)
            let writer = try platform.client("write", ["outage"])
            letPass(.seconds(2))
            platform.redis.kill()
            expect("the nodes notice", within: .seconds(30)) { platform.nodes.allSatisfy { $0.count(of: "cluster_away") > 0 } }
            letPass(.seconds(2))
            try checkRefusal(platform)
            try platform.redis.start()
            expect("the nodes are back", within: .seconds(30)) {
                platform.nodes.allSatisfy { $0.count(of: "cluster_connected") > 1 }
            }
            platform.redis.pause()
            letPass(.seconds(Platform.isWhole ? 20 : 12))
            platform.redis.resume()
            try expect("the nodes are back again", within: .seconds(30)) {
                try platform.nodes.allSatisfy { Gateway.sample("stagedoor_cluster_connected", in: try $0.admin("metrics")) == 1 }
            }
            letPass(.seconds(4))
            try checkWrites(writer, of: platform)
            try check(publishers, of: platform)
            platform.stop()
        }

        /// New publishes get 503 and words while the server is away; nothing else is answered than what is documented.
        private func checkRefusal(_ platform: Platform) throws {
            let node = platform.nodes[0]
            let answer = try ProgramRun.output(
                of: [
                    "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "20", "-H",
                    "Content-Type: application/sdp",
                    "-H", "Authorization: Bearer \(try #require(node.quickstart.whipToken))", "--data-binary",
                    "@\(try Self.offer().path)", try #require(node.quickstart.whipURL),
                ], within: .seconds(30))
            #expect(answer == "503")
            #expect(try node.admin("readyz").contains("cluster"))
        }

        private static func offer() throws -> URL {
            let file = Workspace.temporaryFile(suffix: ".offer")
            try Data(OfferFixture.named("obs-32.2.2-ldc0.21.0").body).write(to: file)
            return file
        }

        private func publish(on platform: Platform, seconds: Int) throws -> [ProgramRun] {
            let made = try platform.nodes[0].makePublishers((0..<Self.streams).map { "outage-\($0)" })
            let runs = try made.enumerated().map { index, publisher in
                let node = platform.nodes[index % platform.nodes.count]
                return try Encoder.ffmpeg(.p30, to: "\(node.quickstart.rtmpURL)/\(publisher.streamKey)", seconds: seconds)
            }
            try expect("all live", within: .seconds(60)) {
                try platform.nodes.reduce(0) { $0 + (try $1.live()) } == made.count
            }
            return runs
        }

        /// Nobody was interrupted, and nothing ended at any node.
        private func check(_ publishers: [ProgramRun], of platform: Platform) throws {
            for publisher in publishers { #expect(publisher.isRunning, "\(publisher.output.suffix(500))") }
            #expect(platform.nodes.allSatisfy { $0.count(of: "rtmp_publish_ended") == 0 })
            #expect(try platform.nodes.reduce(0) { $0 + (try $1.live()) } == publishers.count)
            for publisher in publishers { publisher.kill() }
        }

        private func checkWrites(_ writer: ProgramRun, of platform: Platform) throws {
            writer.send(SIGTERM)
            let written = try writer.report(Written.self, within: .seconds(60))
            print("writes over the outage: \(written.acknowledged.count) acknowledged, \(written.answers)")
            #expect(Set(written.answers.keys).isSubset(of: ["503 ServiceUnavailableException"]))
            let names = try platform.client("names").report(Names.self, within: .seconds(60))
            #expect(names.isSame)
            #expect(Set(written.acknowledged).isSubset(of: Set(names.names)), "an acknowledged write is lost")
        }

        private struct Written: Decodable {
            var acknowledged: [String]
            var answers: [String: Int]
        }
    }
}
