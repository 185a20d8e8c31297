import Foundation
import Testing

extension UnderLoad {
    /// More publishers than a node takes: those it has do not notice.
    @Suite struct OverloadCost {
        /// The demand is 300 at a node for 100; the machine that CI has gets fewer, so that what gets
        /// lost was not lost by its load.
        private static let limit = ProcessInfo.processInfo.environment["INTEROP_STREAMS"].flatMap(Int.init) ?? 20

        @Test(.timeLimit(.minutes(10)))
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
            let clip = try Clip.p30.file()
            let receiver = try gateway.receiver()
            func publish(_ keys: some Sequence<Substring>, seconds: Int) throws -> ProgramRun {
                try ProgramRun([
                    try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys",
                    try Self.file(keys).path, "--flv", clip, "--seconds", "\(seconds)",
                ])
            }
            let within = try publish(names.prefix(limit), seconds: Encoder.untilStopped)
            try expect("all within the limit", within: .seconds(60)) { try gateway.live() == limit }
            let alone = try gateway.mediaTurns { letPass(.seconds(4)) }
            // A refusal lasts half a second, so that its words are read: ten clients at a time.
            let part = limit / 5
            let besieged = try gateway.mediaTurns {
                let beyond = try (0..<10).map { try publish(names.dropFirst(limit + $0 * part).prefix(part), seconds: 1) }
                for run in beyond {
                    #expect(run.status(within: .seconds(60)) == 1)
                    #expect(run.output.contains("\"refused\":\(part)"), "\(run.output.suffix(500))")
                }
            }
            expect("each with its words", within: .seconds(20)) {
                gateway.log.components(separatedBy: "SD-1071").count > 2 * limit
            }
            #expect(try gateway.live() == limit)
            let whip = try gateway.whipPublishers(1, clip: clip, seconds: 1)
            #expect(whip.status(within: .seconds(30)) == 1 && whip.output.contains("503"), "\(whip.output.suffix(500))")
            within.send(SIGINT)
            #expect(within.status(within: .seconds(60)) == 0, "\(within.output.suffix(500))")
            receiver.send(SIGINT)
            let received = try receiver.report(Received.self, within: .seconds(30))
            print("overload: a media turn of \(limit) streams cost \(alone) alone, \(besieged) while \(2 * limit) were refused")
            print(receiver.lastLine)
            #expect(received.sources == 2 * limit && received.lost - received.droppedByKernel <= 0)
            // Clocks of threads still see what others do to caches.
            #expect(besieged.microseconds < alone.microseconds * 1.5)
            gateway.stop()
        }

        private static func file(_ keys: some Sequence<Substring>) throws -> URL {
            let file = Workspace.temporaryFile(suffix: ".keys")
            try keys.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
            return file
        }
    }
}

extension Gateway {
    /// What turns of the workers' loops cost on average, by the clocks of their threads.
    struct MediaTurns: CustomStringConvertible {
        var microseconds: Double
        var count: Double
        var description: String { "\(Int(microseconds)) µs (\(Int(count)) turns)" }
    }

    func mediaTurns(while body: () throws -> Void) throws -> MediaTurns {
        func read() throws -> (cpu: Double, count: Double) {
            let metrics = try metrics()
            let name = "stagedoor_event_loop_turn_cpu_seconds"
            return (metrics.sum("\(name)_sum", "loop=\"worker-"), metrics.sum("\(name)_count", "loop=\"worker-"))
        }
        let before = try read()
        try body()
        let after = try read()
        let count = after.count - before.count
        return MediaTurns(microseconds: (after.cpu - before.cpu) / count * 1_000_000, count: count)
    }
}
