import ArgumentParser
import EventLoop
import Foundation
import SRTP
import Wire

/// `stagedoor-bench relay`: the least that a server can do with the same streams, to stand beside a server's figures.
///
/// It takes what `rtmp` and `whip --bare` send, over the same sockets at the same pace, with the same number of threads, and
/// sends it on as RTP to ports of its own for each stream: one read for what has come, one segmented send a frame, and the
/// codecs. It judges nothing, keeps no account, and answers set-ups by rote.
struct Relay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Sends streams on as RTP with nothing around it: the floor of a server's cost.")

    enum Input: String, ExpressibleByArgument { case rtmp, srtp }

    @Argument(help: "What comes: rtmp, or srtp, which begins at once with agreed keys.")
    var input: Input
    @Option(help: "Of 127.0.0.1: for RTMP the port to listen at; for SRTP the first of as many as there are streams.")
    var port: UInt16
    @Option(help: "Of 127.0.0.1: the first stream's video goes to this port, its sound to the second next, and so on by fours.")
    var to: UInt16
    @Option(help: "Streams; for SRTP alone.")
    var streams = 50
    @Option(help: "Threads that relay.")
    var workers = 2
    @Flag(name: .customLong("aes-cm"), help: "SRTP with AES_CM_128_HMAC_SHA1_80; otherwise AES-GCM.")
    var usesAESCM = false
    @Option(help: "Opus complexity, as configured at the server.")
    var complexity: Int32 = 1
    @Option(help: "Opus bits per second, as configured at the server.")
    var bitrate: Int32 = 96_000

    func run() throws {
        let polls = try (0..<max(1, workers)).map { _ in try RelayPoll() }
        let (input, firstPort) = (input, to)
        let codec = RelayTranscoder.Settings(bitrate: bitrate, complexity: complexity)
        let profile = usesAESCM ? SRTPProfile.aes128CMSHA1_80 : .aeadAES128GCM
        for (index, poll) in polls.enumerated() {
            _ = try WorkerThread.start(name: "relay-\(index)") {
                guard let output = try? RelayOutput(firstPort: firstPort) else { return }
                switch input {
                case .rtmp: poll.serve { RTMPRelay(descriptor: $0, stream: $1, output: output, codec: codec) }
                case .srtp: poll.serve { try? SRTPRelay(descriptor: $0, stream: $1, output: output, profile: profile) }
                }
            }
        }
        switch input {
        case .rtmp: try acceptAll(for: polls)
        case .srtp: try listen(for: polls)
        }
    }

    /// Set-ups one after the other, as `stagedoor-bench rtmp` makes them.
    private func acceptAll(for polls: [RelayPoll]) throws -> Never {
        let listener = try LoopbackSocket.listening(at: port)
        FileHandle.standardError.write(Data("relaying\n".utf8))
        var count = 0
        while true {
            guard let connection = LoopbackSocket.accept(from: listener) else { continue }
            guard RTMPSetUp.answer(connection) else { continue }
            polls[count % polls.count].add(connection, stream: count)
            count += 1
        }
    }

    private func listen(for polls: [RelayPoll]) throws -> Never {
        for stream in 0..<streams {
            let socket = try LoopbackSocket.datagrams(at: port + UInt16(stream))
            polls[stream % polls.count].add(socket, stream: stream)
        }
        FileHandle.standardError.write(Data("relaying\n".utf8))
        while true { pause() }
    }
}
