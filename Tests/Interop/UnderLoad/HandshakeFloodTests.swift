import Foundation
import Testing

extension UnderLoad {
    /// A crowd that makes a server sign and never goes on: streams and honest encoders do not notice .
    @Suite struct HandshakeFlood {
        static let seconds = 10
        static let helloesPerSecond = 2_000

        @Test(.timeLimit(.minutes(10)))
        func `50 streams and honest set-ups go on beside 2,000 replayed ClientHellos a second`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany, participants: 70)
            let keys = try gateway.makeStreamKeys(stages: 1, each: Self.honest)
            let secure = try gateway.securePort()
            let streams = try WatchedStreams(.whip, 50, of: .full, at: gateway)
            let hello = try HelloFlood.recordedHello()
            let rtmps = try #require(gateway.quickstart.rtmpsURL)
            let ports = [try #require(URL(string: rtmps)?.port), secure]
            let (before, start) = (try gateway.metrics(), ContinuousClock.now)
            let flood = HelloFlood(hello, at: ports.map { UInt16($0) }, addresses: 250)
            flood.start(perSecond: Self.helloesPerSecond, seconds: Self.seconds)
            letPass(.seconds(2))
            try expectHonestSetUps(gateway, keys: keys, securePort: secure)
            let account = try #require(flood.end(within: .seconds(30)))
            let (after, elapsed) = (try gateway.metrics(), start.duration(to: .now) / .seconds(1))
            let received = try streams.expectWhole(besides: 2 * Self.honest)
            print("flood: \(account)\nstreams: \(received)")
            Self.printCosts(before, after)

            #expect(Double(account.opened - account.notConnected) > 0.9 * Double(Self.helloesPerSecond * Self.seconds))
            // 4 ms in any 20 ms on each worker, and the step that goes beyond them.
            let cpu = after.sum("stagedoor_handshake_cpu_seconds_sum") - before.sum("stagedoor_handshake_cpu_seconds_sum")
            let workers = Double(after.count("stagedoor_event_loop_turns_total", of: "worker-"))
            #expect(cpu > 0.5 && cpu < 0.22 * elapsed * workers)
            // What media waits for: turns of no more than that and a batch of media, which is longer after the machine was
            // with others for a while.
            let turns = after.sum(Self.turn + "_count", Self.worker) - before.sum(Self.turn + "_count", Self.worker)
            #expect(Self.turns(after, above: "0.008") - Self.turns(before, above: "0.008") < turns / 1_000)
            #expect(Self.turns(after, above: "0.016") - Self.turns(before, above: "0.016") < turns / 2_000)
            gateway.stop()
        }

        /// While the crowd is there, encoders connect in either way, each within the 5 s that ffmpeg gives.
        private func expectHonestSetUps(_ gateway: Gateway, keys: URL, securePort: Int) throws {
            let quickstart = gateway.quickstart
            let clip = try Clip.long.file()
            let bench = try Workspace.program("stagedoor-bench")
            let whip = try ProgramRun([
                bench, "whip", "https://127.0.0.1:\(securePort)/whip", "--ca", try #require(quickstart.caCertificate),
                "--admin", try #require(quickstart.adminURL), "--access-key", try #require(quickstart.accessKeyId), "--secret",
                try #require(quickstart.secretAccessKey), "--streams", "\(Self.honest)", "--flv", clip, "--seconds", "1",
            ])
            let rtmps = try ProgramRun([
                bench, "rtmp", try #require(quickstart.rtmpsURL), "--keys", keys.path, "--flv", clip, "--seconds", "1",
            ])
            for run in [whip, rtmps] {
                #expect(run.status(within: .seconds(40)) == 0, "\(run.output) \(gateway.log.suffix(2_000))")
                let report = try JSONDecoder().decode(SetUps.self, from: Data(run.lastLine.utf8))
                print("honest: \(report)")
                #expect(report.streams == Self.honest && report.refused == 0)
                #expect(report.connectMilliseconds.maximum < 5_000)
            }
        }

        /// Set-ups of each kind beside the crowd.
        private static let honest = 5

        private struct SetUps: Decodable {
            struct Percentiles: Decodable {
                var p50: Double
                var maximum: Double
            }
            var streams: Int
            var refused: Int
            var connectMilliseconds: Percentiles
        }

        /// Turns of all workers whose CPU time was above a bound.
        private static func turns(_ metrics: Metrics, above bound: String) -> Double {
            metrics.count(turn, above: bound, worker)
        }

        private static func printCosts(_ before: Metrics, _ after: Metrics) {
            func change(_ name: String) -> Double { after.sum(name) - before.sum(name) }
            print(
                "handshakes:", change("stagedoor_handshake_cpu_seconds_count"), "steps,",
                change("stagedoor_handshake_cpu_seconds_sum"), "s of CPU; waited",
                change("stagedoor_handshake_wait_seconds_sum") / max(1, change("stagedoor_handshake_wait_seconds_count")),
                "s each")
            for bound in ["0.001", "0.002", "0.004", "0.008", "0.016"] {
                print("turns above \(bound) s of CPU:", turns(after, above: bound) - turns(before, above: bound))
            }
        }

        private static let turn = "stagedoor_event_loop_turn_cpu_seconds"
        private static let worker = "loop=\"worker-"

        private static let roomForMany = """
            rates: {resources: 10000, tokens: 1000}
            quotas: {ingestConfigurations: 1000}
            """
    }
}

extension Gateway {
    /// The port of the public HTTPS listener: the one where WHIP answers over TLS.
    func securePort() throws -> Int {
        let sockets = try ProgramRun.output(of: ["ss", "-Htlnp"], within: .seconds(20))
        let ports = sockets.split(separator: "\n").filter { $0.contains("pid=\(pid),") }
            .compactMap { $0.firstMatch(of: #/:(\d+) /#).flatMap { Int($0.output.1) } }
        let secure = Set(ports).first { port in
            let line = ["curl", "-sk", "--max-time", "50", "-w", "%{http_code}", "https://127.0.0.1:\(port)/whip"]
            return (try? ProgramRun.output(of: line, within: .seconds(60)))?.hasSuffix("204") == true
        }
        return try #require(secure, "\(sockets)")
    }
}
