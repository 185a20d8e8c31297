import Foundation
import Testing

extension Interop {
    /// 2,000 peers that connect and say nothing, and as many in their place when they are cut off: nobody honest is kept out.
    @Suite struct SilentPeers {
        /// As many connections as each listener takes, one worker having all of them.
        static let count = 2_000

        @Test(.timeLimit(.minutes(10)), arguments: ["http", "https", "rtmp", "admin"])
        func `2,000 silent peers at a listener, an honest encoder and an honest viewer get in`(_ listener: String) throws {
            let gateway = try Gateway(configuration: "workers: {count: 1}")
            let silent = try ProgramRun([
                "/usr/bin/python3", Workspace.package.appending(path: "Tests/Interop/Clients/silent_peers.py").path, "127.0.0.1",
                "\(try Self.port(of: listener, gateway))", "\(Self.count)",
            ])
            expect("they stand", within: .seconds(60)) { silent.output.contains("standing") }
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let token = try #require(gateway.quickstart.whipToken)
            expect("the encoder publishes", within: .seconds(60)) { gateway.log.contains("rtmp_publish_granted") }
            for number in 0..<10 {
                #expect(try gateway.page("livez", at: gateway.quickstart.adminURL) == "200", "look \(number) at admin")
                #expect(try gateway.page("watch/x", at: gateway.securedURL()) == "200", "page \(number) by HTTPS")
            }
            let viewer = try ProgramRun([
                WHIP.python, WHIP.script("aiortc_whep.py"), "\(Encoder.untilStopped)", token,
                try gateway.whepURL(gateway.quickstart.participantId),
            ])
            expect("the viewer sees", within: .seconds(60)) { viewer.output.contains("first picture") }
            #expect(encoder.isRunning && silent.isRunning, "\(silent.output.suffix(200))")
            viewer.kill()
            encoder.kill()
            silent.kill()
            gateway.stop()
        }

        private static func port(of listener: String, _ gateway: Gateway) throws -> Int {
            if listener == "https" { return try gateway.securePort() }
            let quickstart = gateway.quickstart
            let url = ["http": quickstart.whipURL, "admin": quickstart.adminURL, "rtmp": quickstart.rtmpURL][listener] ?? nil
            return try #require(url.flatMap { URL(string: $0)?.port })
        }

        @Test(.timeLimit(.minutes(10)))
        func `junk from strangers fills no log, and its counter is exact`() throws {
            let gateway = try Gateway(configuration: "workers: {count: 1}\nlimits: {connectionsPerAddress: 2000}")
            let port = UInt16(try Self.port(of: "rtmp", gateway))
            for _ in 0..<20 {
                let connections = try (0..<50).map { _ in try RawConnection(port: port) }
                for connection in connections { connection.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) }
                for connection in connections { #expect(connection.ending(within: .seconds(60)).0 != .stillOpen) }
            }
            try expect("every one is counted", within: .seconds(60)) {
                try gateway.metrics().sum("stagedoor_rtmp_protocol_errors_total") == 1_000
            }
            func told() -> Int {
                let sums = gateway.log.matches(of: /"event":"lines_left_out","of":"rtmp_protocol_error","count":(\d+)/)
                return sums.compactMap { Int($0.output.1) }.reduce(0, +)
            }
            func lines() -> Int { gateway.log.matches(of: /"event":"rtmp_protocol_error"/).count }
            expect("lines and sums are all there were", within: .seconds(60)) { lines() + told() == 1_000 }
            #expect(told() > 0)
            gateway.stop()
        }
    }
}

extension Gateway {
    /// The status that a page is answered with.
    func page(_ path: String, at url: String?, _ options: [String] = []) throws -> String {
        try ProgramRun.output(
            of: [
                "curl", "-sS", "-k", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "20", "--retry", "5",
                "--retry-all-errors", "--retry-delay", "1",
            ] + options + ["\(try #require(url))/\(path)"], within: .seconds(150))
    }

    func securedURL() throws -> String { "https://127.0.0.1:\(try securePort())" }

    /// Where WHEP watches a participant of the demo stage.
    func whepURL(_ participant: String) throws -> String {
        let stage = try #require(quickstart.stageId)
        return try #require(quickstart.whipURL).replacing(/\/whip$/, with: "/whep/\(stage)/\(participant)")
    }
}
