import Foundation
import Testing

extension Interop {
    /// More publishers than a node takes: those it has do not notice.
    @Suite(.serialized) struct Overload {
        /// The demand is 300 at a node for 100.
        private static let limit = ProcessInfo.processInfo.environment["INTEROP_STREAMS"].flatMap(Int.init) ?? 100

        /// 300 publishers need a machine of their own.
        @Test(.timeLimit(.minutes(3)), .enabled(if: ProcessInfo.processInfo.environment["INTEROP_OVERLOAD"] != nil))
        func `publishers beyond the limit are refused in words, those within it are whole and cost what they did`() throws {
            let limit = Self.limit
            let gateway = try Gateway(
                configuration: """
                    rates: {resources: 10000}
                    quotas: {ingestConfigurations: 1000}
                    limits: {connectionsPerAddress: 1000}
                    overload: {maximumPublishers: \(limit), cpu: 100, loopLag: 5s}
                    """, participants: 3 * limit + 10)
            let keys = try gateway.makeStreamKeys(stages: 3 * limit / 10, each: 10)
            let names = try String(contentsOf: keys, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            let first = try Self.file(names.prefix(limit))
            let clip = try Clip.p30.file()
            let receiver = try gateway.receiver(seconds: 120)
            let within = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", first.path, "--flv", clip,
                "--seconds", "45",
            ])
            try expect("all within the limit", within: .seconds(30)) { try gateway.live() == limit }
            let alone = gateway.cpu(over: .seconds(5))
            // A refusal lasts half a second, so that its words are read: ten clients at a time.
            let beyond = try (0..<10).map { part in
                let keys = try Self.file(names.dropFirst(limit + part * limit / 5).prefix(limit / 5))
                return try ProgramRun([
                    try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", keys.path, "--flv",
                    clip, "--seconds", "1",
                ])
            }
            let besieged = gateway.cpu(over: .seconds(5))
            for run in beyond {
                #expect(run.status(within: .seconds(30)) == 1)
                #expect(run.output.contains("\"refused\":\(limit / 5)"), "\(run.output.suffix(500))")
            }
            #expect(gateway.log.components(separatedBy: "SD-1071").count > 2 * limit)
            #expect(try gateway.live() == limit)
            let whip = try gateway.whipPublishers(1, clip: clip, seconds: 1)
            #expect(whip.status(within: .seconds(20)) == 1 && whip.output.contains("503"), "\(whip.output.suffix(500))")
            #expect(within.status(within: .seconds(60)) == 0, "\(within.output.suffix(500))")
            let received = try receiver.report(Received.self, within: .seconds(30))
            print("overload: CPU \(alone) s alone, \(besieged) s while \(2 * limit) were refused; \(receiver.lastLine)")
            #expect(received.sources == 2 * limit && received.lost - received.droppedByKernel <= 0)
            // A refusal costs 0.3 ms beside 5 ms for each second of a stream.
            #expect(besieged < alone * 1.35)
            gateway.stop()
        }

        private static func file(_ keys: some Sequence<Substring>) throws -> URL {
            let file = Workspace.temporaryFile(suffix: ".keys")
            try keys.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            return file
        }
    }

    /// A node is stopped and started anew while encoders that come back by themselves publish.
    @Suite(.serialized) struct RollingRestart {
        private static let publishers = 10

        @Test(.timeLimit(.minutes(2)))
        func `publishers that try again as OBS does are back at their first or second retry`() throws {
            let gateway = try Gateway(
                configuration: """
                    drain: {grace: 0s, timeout: 1s, closesPerSecond: 20}
                    rates: {resources: 10000}
                    limits: {connectionsPerAddress: 1000}
                    """, participants: 30)
            // The same ports again, as a service has them.
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port)
            let keys = try gateway.makeStreamKeys(stages: 1, each: Self.publishers)
            let clip = try Clip.p30.file()
            let encoders = try String(contentsOf: keys, encoding: .utf8).split(whereSeparator: \.isWhitespace).map { key in
                try ProgramRun(["bash", "-c", Self.obsLike, "obs", clip, "\(gateway.quickstart.rtmpURL)/\(key)"])
            }
            try expect("all live", within: .seconds(20)) { try gateway.live() == Self.publishers }
            kill(gateway.pid, SIGTERM)
            expect("the old process ends", within: .seconds(20)) { !gateway.isRunning }
            try gateway.keepPort(port)
            let next = try Successor(of: gateway, takesOver: false)
            expect("all are back\n\(next.log.suffix(1_000))", within: .seconds(20)) {
                next.log.components(separatedBy: "\"rtmp_publish_granted\"").count - 1 >= Self.publishers
            }
            for encoder in encoders {
                let attempts = encoder.output.components(separatedBy: "attempt ").count - 1
                #expect((2...3).contains(attempts), "\(encoder.output.suffix(500))")
                encoder.kill()
            }
            let refusals = (gateway.log + next.log).matches(of: /SD-(\d+)/).map { String($0.1) }
            #expect(Set(refusals).isSubset(of: ["1070"]), "only as documented: \(Set(refusals))")
            next.stop()
            gateway.stop()
        }

        /// obs-output.c: the first retry after 2 s, each further one after half as long again.
        private static let obsLike = """
            delay=2
            for attempt in 1 2 3 4 5 6; do
                echo "attempt $attempt"
                ffmpeg -hide_banner -nostdin -nostats -v error -re -stream_loop -1 -i "$1" -c copy -t 60 -f flv "$2" </dev/null
                sleep $delay
                delay=$(awk "BEGIN {print $delay * 1.5}")
            done
            """
    }
}

extension Gateway {
    /// CPU seconds of the process in a span of time.
    func cpu(over span: Duration) -> Double {
        let before = cpuSeconds
        letPass(span)
        return cpuSeconds - before
    }

    private var cpuSeconds: Double {
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    /// The next process with this configuration listens for RTMP where this one did.
    func keepPort(_ port: Int) throws {
        let text = try String(contentsOf: settings, encoding: .utf8)
        let old = "rtmp: {listen: \"127.0.0.1:0\"}"
        try #require(text.contains(old))
        try text.replacingOccurrences(of: old, with: "rtmp: {listen: \"127.0.0.1:\(port)\"}")
            .write(to: settings, atomically: true, encoding: .utf8)
    }
}
