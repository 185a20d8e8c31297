import Foundation
import TestSupport
import Testing

extension Interop {
    /// One of two encoders behind a network of its own.
    @Suite struct RedundantLink {
        @Test(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
        func `a link that goes down is a standstill, and its encoder is the standby when it is up again`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair([], to: router)
            let cable = try Cable()
            let port = try #require(URLComponents(string: stage.gateway.quickstart.rtmpURL)?.port)
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/breaking_way.py").path
            let way = try ProgramRun(["/usr/bin/python3", script, "\(port)", cable.near])
            expect("the way is open", within: .seconds(60)) { way.output.contains("\n") }
            let key = try #require(stage.url(1).split(separator: "/").last)
            stage.encoders[1] = try ProgramRun(
                cable.command([
                    "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-stream_loop", "-1", "-i",
                    try Clip.redundant.file(), "-c", "copy", "-f", "flv",
                    "rtmp://\(cable.near):\(way.output.prefix { $0.isNumber })/app/\(key)",
                ]))
            try expect("it is the source\n\(stage.logTail)", within: .seconds(60)) { try stage.source == 1 }
            stage.encoders[2] = try Encoder.ffmpeg(.redundant, to: stage.url(2), seconds: Encoder.untilStopped)
            for _ in 0..<2 {
                stage.awaitBoth()
                if try stage.source == 2 { try stage.change(by: .order) }
                try cable.set("down")
                try expect("the other one goes on\n\(stage.logTail)", within: .seconds(60)) { try stage.source == 2 }
                try cable.set("up")
            }
            stage.awaitBoth()
            let metrics = try stage.gateway.metrics()
            #expect(metrics.sum("stagedoor_redundant_switches_total", "reason=\"stall\"") > 0)
            let seen = try router.only(stage.joined)
            #expect(seen.tracks.count == 2 && seen.tracks.allSatisfy(\.isWhole), "\(seen)")
            #expect(seen.foreign == 0 && seen.backwards == 0 && !seen.saidBye, "\(seen)")
            stage.gateway.stop()
        }
    }

    /// A network with a link to this machine, which goes with its object.
    private final class Cable {
        let near = "10.77.32.1"
        private let name = "sd\(UInt32.random(in: 0...0xFF_FFFF))"

        init() throws {
            try ip("netns", "add", name)
            try ip("link", "add", "\(name)a", "type", "veth", "peer", "name", "\(name)b")
            try ip("link", "set", "\(name)b", "netns", name)
            try ip("address", "add", "\(near)/30", "dev", "\(name)a")
            try ip("-n", name, "address", "add", "10.77.32.2/30", "dev", "\(name)b")
            try ip("-n", name, "link", "set", "\(name)b", "up")
            try set("up")
        }

        deinit { try? ip("netns", "delete", name) }

        /// The line that runs `arguments` at its far end.
        func command(_ arguments: [String]) -> [String] { ["ip", "netns", "exec", name] + arguments }

        /// - Parameter state: `up` or `down`.
        func set(_ state: String) throws { try ip("link", "set", "\(name)a", state) }

        private func ip(_ arguments: String...) throws {
            _ = try ProgramRun.output(of: ["ip"] + arguments, within: .seconds(60))
        }
    }
}
