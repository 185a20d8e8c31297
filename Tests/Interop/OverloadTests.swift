import Foundation
import Testing

extension Interop {
    /// More publishers than a node takes.
    @Suite struct Overload {
        private static let limit = 4

        @Test(.timeLimit(.minutes(10)))
        func `publishers beyond the limit are refused in words, and those within it go on`() throws {
            let limit = Self.limit
            let gateway = try Gateway(
                configuration: """
                    overload: {maximumPublishers: \(limit), cpu: 100, loopLag: 5s}
                    """, participants: 2 * limit + 2)
            let keys = try gateway.makeStreamKeys(stages: 1, each: 2 * limit)
            let names = try String(contentsOf: keys, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            let clip = try Clip.p30.file()
            func publish(_ keys: some Sequence<Substring>, seconds: Int) throws -> ProgramRun {
                let file = Workspace.temporaryFile(suffix: ".keys")
                try keys.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
                return try ProgramRun([
                    try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", file.path, "--flv",
                    clip, "--seconds", "\(seconds)",
                ])
            }
            let within = try publish(names.prefix(limit), seconds: Encoder.untilStopped)
            try expect("all within the limit", within: .seconds(60)) { try gateway.live() == limit }
            let beyond = try publish(names.dropFirst(limit), seconds: 1)
            #expect(beyond.status(within: .seconds(60)) == 1)
            #expect(beyond.output.contains("\"refused\":\(limit)"), "\(beyond.output.suffix(500))")
            expect("each with its words", within: .seconds(60)) {
                gateway.log.components(separatedBy: "SD-1071").count > limit
            }
            let whip = try gateway.whipPublishers(1, clip: clip, seconds: 1)
            #expect(whip.status(within: .seconds(60)) == 1 && whip.output.contains("503"), "\(whip.output.suffix(500))")
            #expect(try gateway.live() == limit)
            #expect(try gateway.admin("readyz").contains(#""failing":{"overload":"#), "balancers send encoders elsewhere")
            #expect(try gateway.admin("metrics").contains("stagedoor_admission_closed{reason=\"overloaded\"} 1\n"))
            within.send(SIGINT)
            #expect(within.status(within: .seconds(60)) == 0, "\(within.output.suffix(500))")
            gateway.stop()
        }
    }
}
