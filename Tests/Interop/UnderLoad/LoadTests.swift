import Foundation
import Testing

extension UnderLoad {
    /// Many streams at once: nothing is lost inside.
    @Suite struct Load {
        /// A minute in `make bench`; here long enough to see every stream past its first keyframes.
        static let seconds = 60

        @Test(.timeLimit(.minutes(10)))
        func `100 streams of 2.5 Mbit/s lose no packet`() throws {
            let clip = try Clip.full.file()
            let gateway = try Gateway(configuration: Self.roomForMany, participants: 110)
            let keys = try gateway.makeStreamKeys(stages: 10, each: 10)
            let receiver = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "receive", "--ports",
                "\(gateway.routerPorts.lowerBound)-\(gateway.routerPorts.upperBound)", "--seconds", "\(Self.seconds + 60)",
                "--idle", "2",
            ])
            expect("the receiver is ready", within: .seconds(10)) { receiver.output.contains("receiving") }
            let sender = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", keys.path, "--flv", clip,
                "--seconds", "\(Self.seconds)", "--pid", "\(gateway.pid)",
            ])
            #expect(sender.status(within: .seconds(100)) == 0, "\(sender.output)")
            #expect(receiver.status(within: .seconds(30)) == 0, "\(receiver.output)")
            let received = try JSONDecoder().decode(Received.self, from: Data(receiver.lastLine.utf8))
            print("100 streams: \(sender.lastLine)\n\(receiver.lastLine)")
            #expect(received.sources == 200)
            #expect(received.lost - received.droppedByKernel <= 0)
            #expect(received.malformed == 0 && received.duplicates == 0)
            gateway.stop()
        }

        /// One address is a hundred strangers here, and makes their keys in one go.
        private static let roomForMany = """
            rates: {resources: 10000}
            quotas: {ingestConfigurations: 1000}
            limits: {connectionsPerAddress: 1000}
            """

        private struct Received: Decodable {
            var sources: Int
            var lost: Int
            var droppedByKernel: Int
            var malformed: Int
            var duplicates: Int
        }
    }
}

extension Gateway {
    /// A file with stream keys, made through the control API by the AWS SDK.
    func makeStreamKeys(stages: Int, each: Int) throws -> URL {
        let client = Workspace.package.appending(path: "Tests/Interop/Clients/ingests.py").path
        let python = Workspace.package.appending(path: ".deps/venv/bin/python").path
        let keys = try ProgramRun.output(
            of: [
                python, client, try #require(quickstart.adminURL), try #require(quickstart.accessKeyId),
                try #require(quickstart.secretAccessKey), quickstart.region ?? "us-east-1", "\(stages)", "\(each)",
            ], within: .seconds(300))
        let file = Workspace.temporaryFile(suffix: ".keys")
        try keys.write(to: file, atomically: true, encoding: .utf8)
        return file
    }
}

extension ProgramRun {
    var lastLine: String { output.split(separator: "\n").last.map(String.init) ?? "" }
}
