import Foundation
import Testing

extension Interop {
    /// RTMP connections go evenly to the workers, wherever the kernel put them.
    @Suite struct ConnectionShare {
        private static let name = "stagedoor_rtmp_connections"

        /// Connections of each of four workers.
        private func counts(of gateway: Gateway) throws -> [Int] {
            let metrics = try gateway.metrics()
            return (0..<4).map { Int(metrics.sum(Self.name, "loop=\"worker-\($0)\"")) }
        }

        @Test(.timeLimit(.minutes(10)))
        func `40 connections over four workers are shared evenly, and given back`() throws {
            // Those that connected first are still there when the last one is counted.
            let gateway = try Gateway(
                configuration: "workers: {count: 4}", launcher: ["env", "STAGEDOOR_RTMP_PUBLISH_TIMEOUT=2m"])
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port.flatMap(UInt16.init(exactly:)))
            var connections = try (0..<40).map { _ in
                let connection = try RawConnection(port: port)
                // Without a handshake it would be gone in 5 s.
                connection.send(RTMPBytes.handshake)
                return connection
            }
            try expect("all are accepted", within: .seconds(60)) { try counts(of: gateway).reduce(0, +) == 40 }
            let shares = try counts(of: gateway)
            print("connections of each worker: \(shares)")
            #expect(shares.allSatisfy { abs($0 - 10) <= 2 })
            // Each is served where it is: its handshake is answered.
            #expect(connections.allSatisfy { $0.receives(3_073, within: .seconds(60)) })
            connections = []
            try expect("all are given back", within: .seconds(60)) { try counts(of: gateway) == [0, 0, 0, 0] }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `12 RTMPS publishers are shared evenly, and live`() throws {
            let gateway = try Gateway(
                configuration: """
                    workers: {count: 4}
                    rates: {resources: 10000}
                    quotas: {ingestConfigurations: 100}
                    """, participants: 20)
            let keys = try gateway.makeStreamKeys(stages: 3, each: 4)
            let publishers = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", try #require(gateway.quickstart.rtmpsURL), "--keys", keys.path,
                "--flv", try Clip.p30.file(), "--seconds", "\(Encoder.untilStopped)",
            ])
            try expect("all publish", within: .seconds(60)) {
                try gateway.metrics().sum("stagedoor_sessions", "state=\"live\"", "protocol=\"rtmps\"") == 12
            }
            let shares = try counts(of: gateway)
            print("publishers of each worker: \(shares)")
            #expect(shares.reduce(0, +) == 12 && shares.allSatisfy { abs($0 - 3) <= 2 })
            publishers.send(SIGINT)
            #expect(publishers.status(within: .seconds(60)) == 0, "\(publishers.output.suffix(500))")
            try expect("all are given back", within: .seconds(60)) { try counts(of: gateway) == [0, 0, 0, 0] }
            gateway.stop()
        }
    }
}
