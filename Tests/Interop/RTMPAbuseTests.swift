import Foundation
import TestSupport
import Testing

extension Interop {
    /// Bytes that no encoder sends: each ends in a close within its deadline, and nobody else notices.
    @Suite struct RTMPAbuse {
        /// Longer than every deadline before a publish is accepted.
        static let deadline = Duration.seconds(60)

        @Test(.timeLimit(.minutes(10)))
        func `garbage ends in a close, memory stays, and a stream goes on`() throws {
            let gateway = try Gateway()
            let port = try #require(URL(string: gateway.quickstart.rtmpURL)?.port).asPort
            let capture = try Capture(gateway.sessionDescription)
            let streamer = try Encoder.librtmp(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("the stream arrives", within: .seconds(60)) { capture.byteCount > 50_000 }

            #expect(try settles(gateway) { try cutHandshakes(count: 10_000, seed: 1, port: port) })

            streamer.interrupt()
            capture.finish()
            let times = try MediaFile.steadyPacketTimes(capture.file.path, stream: "v:0")
            // As many as a busy machine lets through, and to the end.
            #expect(times.count > 100 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 1 }, "\(times.count)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)), arguments: Abuse.all)
        func `abuse ends in a close`(abuse: Abuse) throws {
            let gateway = try Gateway()
            let stream = try WatchedStreams(.rtmp, at: gateway)
            let connection = try RawConnection(port: try #require(URL(string: gateway.quickstart.rtmpURL)?.port).asPort)
            for piece in abuse.pieces where !connection.send(piece) { break }
            let (ending, answer) = connection.ending(within: Self.deadline)
            #expect(ending != .stillOpen, "\(abuse.name)")
            if let expected = abuse.answer { #expect(String(decoding: answer, as: UTF8.self).contains(expected)) }
            #expect(gateway.isRunning)
            try stream.expectWhole()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `one byte a second does not live for ever`() throws {
            let gateway = try Gateway()
            let stream = try WatchedStreams(.rtmp, at: gateway)
            let connection = try RawConnection(port: try #require(URL(string: gateway.quickstart.rtmpURL)?.port).asPort)
            let isCut = holds(within: .seconds(60)) {
                letPass(.seconds(1))
                return !connection.send([3]) || connection.ending(within: .milliseconds(1)).0 != .stillOpen
            }
            #expect(isCut)
            try stream.expectWhole()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `publishes ended by reset leave nothing behind`() throws {
            let gateway = try Gateway()
            let stream = try WatchedStreams(.whip, at: gateway)
            let line = [
                try Workspace.program("stagedoor-bench"), "connect", gateway.quickstart.rtmpURL, "--key",
                gateway.quickstart.streamKey, "--count", "5000", "--ending", "rst",
            ]
            #expect(try settles(gateway) { _ = try ProgramRun.output(of: line, within: .seconds(120)) })
            try stream.expectWhole()
            gateway.stop()
        }

        /// Whether one of a few identical rounds after the first takes no more memory: a leak shows in each of them, and what a
        /// busy machine lets pile up does not.
        private func settles(_ gateway: Gateway, _ round: () throws -> Void) rethrows -> Bool {
            try round()
            for _ in 1...4 {
                let before = gateway.residentKilobytes
                try round()
                if gateway.residentKilobytes - before <= 5_120 { return true }
            }
            return false
        }

        /// Connections that say a random part of a right beginning, or of noise, and go.
        private func cutHandshakes(count: Int, seed: UInt64, port: UInt16) throws {
            var random = SplitMix64(seed: seed)
            let right = RTMPBytes.handshake + RTMPBytes.connect()
            for attempt in 0..<count {
                let length = Int.random(in: 0...right.count, using: &random)
                let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                let connection = try RawConnection(port: port)
                connection.send(attempt % 4 == 0 ? noise : Array(right[..<length]))
                if attempt.isMultiple(of: 2) { connection.reset() } else { connection.close() }
            }
        }
    }
}

/// One way to be rude, and what a readable answer holds.
struct Abuse: Sendable, CustomTestStringConvertible {
    var name: String
    var pieces: [[UInt8]]
    var answer: String?

    var testDescription: String { name }

    static let all = [
        Abuse(name: "HTTP", pieces: [Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)], answer: "400"),
        Abuse(name: "garbage", pieces: [(0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }]),
        Abuse(name: "a TLS hello cut short", pieces: [[0x16, 3, 1, 0, 200, 1, 0]]),
        Abuse(
            name: "a message of 16 MB",
            pieces: [
                RTMPBytes.handshake, RTMPBytes.message(type: 20, declared: 0xFF_FFFF, [UInt8](repeating: 0, count: 128)),
            ]),
        Abuse(name: "65,599 chunk streams", pieces: [RTMPBytes.handshake, manyChunkStreams]),
        Abuse(
            name: "50,000 nested objects in connect",
            pieces: [
                RTMPBytes.handshake, RTMPBytes.connect(RTMPBytes.nested(levels: 50_000)),
            ]),
        Abuse(name: "connect and then nothing", pieces: [RTMPBytes.handshake, RTMPBytes.connect()]),
        Abuse(name: "nothing", pieces: []),
    ]

    /// A partial message on every chunk stream id there is.
    private static let manyChunkStreams: [UInt8] = (64..<65_600).flatMap { id -> [UInt8] in
        let offset = id - 64
        return [1, UInt8(offset & 0xFF), UInt8(offset >> 8), 0, 0, 0, 0, 1, 0, 9, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 128)
    }
}

extension Int {
    /// A port as URLs tell it.
    fileprivate var asPort: UInt16 { UInt16(clamping: self) }
}
