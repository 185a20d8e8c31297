import Foundation
import Testing

extension Interop {
    /// `stagedoor-bench relay`, beside which a stream's cost stands: it does the work.
    @Suite struct BareRelay {
        static let streams = 4
        static let seconds = 3

        @Test(.timeLimit(.minutes(10)))
        func `every frame of RTMP becomes RTP in order`() throws {
            let streams = (0..<Self.streams).flatMap { ["--key", "k\($0)"] }
            let (sent, received) = try Self.relay("rtmp") { port in
                ["rtmp", "rtmp://127.0.0.1:\(port)/app"] + streams + ["--flv", try Clip.p30.file()]
            }
            #expect(sent.streams == Self.streams && sent.endedByServer == 0)
            #expect(received.lost == 0 && received.malformed == 0 && received.duplicates == 0)
            #expect(received.sources == Self.streams * 2, "AAC is transcoded")
            #expect(received.received > Self.streams * Self.seconds * 30)
        }

        @Test(.timeLimit(.minutes(10)), arguments: [[], ["--paced", "--aes-cm"]])
        func `every packet of SRTP becomes RTP`(options: [String]) throws {
            let (sent, received) = try Self.relay("srtp", options.filter { $0 == "--aes-cm" }) { port in
                ["whip", "srtp://127.0.0.1:\(port)", "--bare", "--token", "nobody", "--streams", "\(Self.streams)"] + options
                    + ["--flv", try Clip.p30.file()]
            }
            #expect(received.lost == 0 && received.malformed == 0 && received.duplicates == 0)
            #expect(received.sources == Self.streams * 2 && received.received == sent.packets)
        }

        /// What a load sent through a relay, and what came out.
        private static func relay(
            _ input: String, _ options: [String] = [], load: (Int) throws -> [String]
        ) throws -> (sent: Sent, received: Received) {
            let program = try Workspace.program("stagedoor-bench")
            // Four ports a stream on the way out, one or one a stream on the way in.
            let first = Gateway.freeRouterPorts(5 * streams)
            let last = first + 4 * streams - 1
            let receiver = try ProgramRun([
                program, "receive", "--ports", "\(first)-\(last)", "--seconds", "\(Encoder.untilStopped)", "--idle", "10",
            ])
            expect("the receiver is ready", within: .seconds(60)) { receiver.output.contains("receiving") }
            let relay = try ProgramRun(
                [program, "relay", input, "--port", "\(last + 1)", "--to", "\(first)", "--streams", "\(streams)"] + options)
            expect("the relay is ready", within: .seconds(60)) { relay.output.contains("relaying") }
            let loader = try ProgramRun([program] + load(last + 1) + ["--seconds", "\(seconds)"])
            #expect(loader.status(within: .seconds(60)) == 0, "\(loader.output)")
            #expect(receiver.status(within: .seconds(60)) == 0, "\(receiver.output)")
            relay.kill()
            return (
                try JSONDecoder().decode(Sent.self, from: Data(loader.lastLine.utf8)),
                try JSONDecoder().decode(Received.self, from: Data(receiver.lastLine.utf8))
            )
        }

        private struct Sent: Decodable {
            var streams: Int
            var endedByServer: Int
            /// Of WHIP.
            var packets: Int?
        }

        private struct Received: Decodable {
            var sources: Int
            var received: Int
            var lost: Int
            var malformed: Int
            var duplicates: Int
        }
    }
}
