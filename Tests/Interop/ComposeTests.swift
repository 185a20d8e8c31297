import Foundation
import Testing

extension Interop {
    /// docker/compose.yaml and docker/compose.cluster.yaml, up and down, with images of Debian's packages.
    @Suite(.serialized, .enabled(if: Forky.isAsked && geteuid() == 0, "needs a container engine as root: run `make interop`"))
    struct Compose {
        @Test(.timeLimit(.minutes(12)))
        func `the platform takes RTMP and WHIP through its published ports, TURN when UDP is shut, and is watched by Prometheus`()
            throws
        {
            let platform = try ComposePlatform(
                "compose.yaml", publicAddress: "172.30.3.1", services: ["stagedoor", "janus", "coturn", "prometheus"])
            let publishers = try platform.makePublishers(["rtmp", "whip", "turn"], at: "http://127.0.0.1:8088")
            let rtmp = try Encoder.ffmpeg(
                .long, to: "rtmp://127.0.0.1:1935/app/\(publishers[0].streamKey)", seconds: Encoder.untilStopped)
            expect("RTMP\n\(rtmp.output)", within: .seconds(60)) {
                platform.log("stagedoor").contains("rtmp_publish_granted")
            }
            let url = "http://\(platform.publicAddress):8080/whip"
            let whip = try ProgramRun([WHIP.python, WHIP.script("aiortc_whip.py"), "8", url, publishers[1].token])
            #expect(whip.status(within: .seconds(60)) == 0, "\(whip.output)\n\(platform.log("stagedoor").suffix(3_000))")
            #expect(whip.output.contains("state connected") && whip.output.contains("DELETE 200"), "\(whip.output)")

            // A client for which every datagram to the gateway's port is prohibited.
            let outside = try OutsideNetwork()
            try outside.prohibitUDP(to: 3478)
            let turn = try ProgramRun(
                outside.command(["env", "TURN=1", WHIP.python, WHIP.script("aiortc_whip.py"), "8", url, publishers[2].token]))
            #expect(turn.status(within: .seconds(90)) == 0, "\(turn.output)\n\(platform.log("coturn").suffix(2_000))")
            #expect(turn.output.contains("state connected") && turn.output.contains("candidates relay"), "\(turn.output)")

            try Self.expectPrometheus("targets", #""health":"up""#)
            try Self.expectPrometheus("rules", #""name":"stagedoor"#)
            #expect(rtmp.isRunning, "\(rtmp.output)")
            rtmp.kill()
        }

        @Test(.timeLimit(.minutes(10)))
        func `two gateways share a server: one takes over when the other dies`() throws {
            let platform = try ComposePlatform(
                "compose.cluster.yaml", publicAddress: "172.30.4.1", services: ["gateway-a", "gateway-b", "valkey", "janus"])
            let publisher = try platform.makePublishers(["shared"], at: "http://127.0.0.1:8088")[0]
            let first = try Encoder.ffmpeg(
                .long, to: "rtmp://127.0.0.1:1936/app/\(publisher.streamKey)", seconds: Encoder.untilStopped)
            expect("b takes what a made\n\(first.output)", within: .seconds(60)) {
                platform.log("gateway-b").contains("rtmp_publish_granted")
            }
            try Container.engine(["kill", platform.container("gateway-b")], within: .seconds(60))
            #expect(first.status(within: .seconds(60)) != nil)
            expect("a hears of it", within: .seconds(60)) { platform.log("gateway-a").contains("cluster_node_left") }
            let second = try Encoder.ffmpeg(.p30, to: "rtmp://127.0.0.1:1935/app/\(publisher.streamKey)", seconds: 5)
            #expect(second.status(within: .seconds(60)) == 0, "\(second.output)\n\(platform.log("gateway-a").suffix(3_000))")
            #expect(platform.log("gateway-a").contains("session_ended"))
        }

        private static func expectPrometheus(_ question: String, _ word: String) throws {
            let line = ["curl", "-sS", "--max-time", "50", "http://127.0.0.1:9090/api/v1/\(question)"]
            var said = ""
            expect("Prometheus: \(question)", within: .seconds(60)) {
                said = (try? ProgramRun.output(of: line, within: .seconds(60))) ?? ""
                return said.contains(word)
            }
            #expect(said.contains(word), "\(said.prefix(2_000))")
        }
    }
}
