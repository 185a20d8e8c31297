import Foundation
import TestSupport
import Testing

extension Interop {
    /// Nodes that drain send encoders on; a platform goes from one node to many, and back; and what is let in without servers.
    @Suite struct ClusterLeaving {
        @Test(.timeLimit(.minutes(10)))
        func `a node that drains sends encoders on, and refuses those that would lose their token`() throws {
            let port = Int(FreePorts.tcp())
            let platform = try Platform(2, webPort: port, extra: "drain: {grace: 5m, timeout: 5m}")
            let (leaving, staying) = (platform.nodes[0], platform.nodes[1])
            _ = try leaving.signed("v1/drain", ["-X", "POST"])
            // As libcurl in OBS: it follows, and keeps the token toward other hosts.
            let followed = try WHIPPost.send(to: leaving, ["-L", "--location-trusted"])
            #expect(followed == "201 \(Platform.whip(1, port))?hop=1")
            // A page would post again without its token.
            let page = try WHIPPost.send(to: leaving, ["-L", "-H", "Origin: https://page.example"])
            #expect(page == "503 \(Platform.whip(0, port))")
            if Forky.isAsked {
                let encoder = try NewerFFmpeg.publish(to: leaving.quickstart, options: [])
                expect("ffmpeg 9 is live at the other node\n\(encoder.output.suffix(1_000))", within: .seconds(60)) {
                    (try? staying.live()) == 1
                }
                encoder.interrupt()
            }
            _ = try leaving.signed("v1/drain", ["-X", "DELETE"])
            leaving.kill()
            staying.kill()
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Platform.reason))
        func `a platform goes from one node's files to a cluster, and back`() throws {
            let alone = try Gateway()
            let publisher = try #require(try alone.makePublishers(["moved"]).first)
            let encoder = try publish(publisher, at: alone)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            alone.stop()
            let platform = try Platform(0)
            let there = try platform.command(["migrate", "--from", "files", "--to", "cluster", "--data", alone.data.path])
            #expect(there.contains("from files to cluster"), "\(there)")
            try platform.add()
            let told = try platform.client("events", [publisher.stageArn]).report(Told.self, within: .seconds(300))
            #expect(told.participants[publisher.rtmpParticipantId]?.count("PUBLISH_STARTED") == 1)
            let again = try publish(publisher, at: platform.nodes[0])
            #expect(again.status(within: .seconds(60)) == 0, "\(again.output)")
            let doctor = try platform.command(["doctor", "--repair-indexes"])
            #expect(doctor.contains("its clock is ours") && doctor.contains("cluster.platformKeyFile: /"), "\(doctor)")
            #expect(doctor.contains("the indexes lacked 0 entries"), "\(doctor)")
            platform.stop()
            let folder = Workspace.temporaryFile(suffix: ".back")
            let returned = try platform.command(["migrate", "--from", "cluster", "--to", "files", "--data", folder.path])
            #expect(returned.contains("from cluster to files"), "\(returned)")
            let back = try Gateway(data: folder)
            let third = try publish(publisher, at: back)
            #expect(third.status(within: .seconds(60)) == 0, "\(third.output)")
            back.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `without servers tokens are let in where that is configured, stream keys are not`() throws {
            let platform = try Platform(2, cluster: ", degraded: admit")
            platform.redis.kill()
            expect("the nodes notice", within: .seconds(60)) { platform.nodes.allSatisfy { $0.count(of: "cluster_away") > 0 } }
            try expect("a token is let in", within: .seconds(60)) { try WHIPPost.send(to: platform.nodes[1]).hasPrefix("201") }
            #expect(try platform.nodes[1].admin("readyz").contains("\"ok\""))
            let encoder = try Encoder.ffmpeg(.p30, to: platform.nodes[0].quickstart.publishURL, seconds: 3)
            #expect(encoder.status(within: .seconds(60)) != 0)
            #expect(encoder.output.contains("SD-1074"), "\(encoder.output)")
            platform.stop()
        }

        private func publish(_ publisher: Publisher, at node: Gateway) throws -> ProgramRun {
            try Encoder.ffmpeg(.p30, to: "\(node.quickstart.rtmpURL)/\(publisher.streamKey)", seconds: 3)
        }
    }
}
