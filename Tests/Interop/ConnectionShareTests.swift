import Foundation
import Testing

extension Interop {
    /// RTMP connections fill one worker after the other, wherever the kernel put them.
    @Suite struct ConnectionShare {
        private static let name = "stagedoor_rtmp_connections"

        /// Connections of each of three workers.
        private func counts(of gateway: Gateway) throws -> [Int] {
            let metrics = try gateway.metrics()
            return (0..<3).map { Int(metrics.sum(Self.name, "loop=\"worker-\($0)\"")) }
        }

        @Test(.timeLimit(.minutes(10)))
        func `100 connections fill one worker and then the next, and are given back`() throws {
            // Those that connected first are still there when the last one is counted.
            let gateway = try Gateway(
                configuration: """
                    workers: {count: 3}
                    limits: {connectionsPerAddress: 1000}
                    """, launcher: ["env", "STAGEDOOR_RTMP_PUBLISH_TIMEOUT=2m"])
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port.flatMap(UInt16.init(exactly:)))
            var connections = try (0..<100).map { _ in
                let connection = try RawConnection(port: port)
                // Without a handshake it would be gone in 5 s.
                connection.send(RTMPBytes.handshake)
                return connection
            }
            try expect("all are accepted", within: .seconds(60)) { try counts(of: gateway).reduce(0, +) == 100 }
            let shares = try counts(of: gateway)
            print("connections of each worker: \(shares)")
            // The third keeps up to two that the kernel put there.
            #expect(shares[0] == 64 && shares[2] <= 2)
            // Each is served where it is: its handshake is answered.
            #expect(connections.allSatisfy { $0.receives(3_073, within: .seconds(60)) })
            connections = []
            try expect("all are given back", within: .seconds(60)) { try counts(of: gateway) == [0, 0, 0] }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `12 RTMPS publishers are mostly on one worker, and live`() throws {
            let gateway = try Gateway(
                configuration: """
                    workers: {count: 3}
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
            #expect(shares.reduce(0, +) == 12 && shares.dropFirst().allSatisfy { $0 <= 2 })
            publishers.send(SIGINT)
            #expect(publishers.status(within: .seconds(60)) == 0, "\(publishers.output.suffix(500))")
            try expect("all are given back", within: .seconds(60)) { try counts(of: gateway) == [0, 0, 0] }
            gateway.stop()
        }
    }
}
