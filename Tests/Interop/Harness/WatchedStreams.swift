import Foundation
import Testing

/// Publishers of `stagedoor-bench` that stream beside something else, and a receiver at the router's place: whoever disturbs them
/// is seen.
final class WatchedStreams {
    enum Kind { case whip, rtmp }

    /// What the publishers say they did; what only one of the kinds tells is zero for the other.
    struct Sent: Decodable {
        var streams: Int
        var endedByServer: Int
        var packets: Int?
        var deleted: Int?
        var messages: Int?
    }

    /// What came to the router.
    struct Received: Decodable {
        struct Percentiles: Decodable {
            var count: Int
            var p99: Double
            var maximum: Double
        }
        var sources: Int
        var received: Int
        var lost: Int
        var droppedByKernel: Int
        var malformed: Int
        var duplicates: Int
        /// From the encoder's sending of a frame to the arrival of its first packet.
        var firstPacketMilliseconds: Percentiles
    }

    /// Half a second of it, in packets.
    private static let maximumEarlySound = 25

    private let kind: Kind
    private let count: Int
    private let gateway: Gateway
    private let sender: ProgramRun
    private let receiver: ProgramRun

    /// Returns once all are live and their media has come to the receiver: what follows may be over at once.
    /// - Parameter kind: a single RTMP stream is that of the gateway's own key; others are
    ///   participants of their own, made for it.
    init(_ kind: Kind = .whip, _ count: Int = 1, of clip: Clip = .long, at gateway: Gateway) throws {
        (self.kind, self.count, self.gateway) = (kind, count, gateway)
        receiver = try ProgramRun(
            ProgramRun.elsewhere([
                try Workspace.program("stagedoor-bench"), "receive", "--ports",
                "\(gateway.routerPorts.lowerBound)-\(gateway.routerPorts.upperBound)", "--seconds", "\(Encoder.untilStopped)",
                "--sources", "\(2 * count)",
            ]))
        expect("the receiver is ready", within: .seconds(60)) { [receiver] in receiver.output.contains("receiving") }
        let source = ["--flv", try clip.file(), "--seconds", "\(Encoder.untilStopped)", "--marks"]
        sender = try ProgramRun([try Workspace.program("stagedoor-bench")] + Self.publish(kind, count, to: gateway) + source)
        try expect("all publish", within: .seconds(60)) {
            try gateway.metrics().sum("stagedoor_sessions", "state=\"live\"", "protocol=\"\(kind == .whip ? "whip" : "rtmp")\"")
                >= Double(count)
        }
        expect("video and sound of each arrive", within: .seconds(60)) { [receiver] in receiver.output.contains("heard") }
    }

    private static func publish(_ kind: Kind, _ count: Int, to gateway: Gateway) throws -> [String] {
        let quickstart = gateway.quickstart
        guard kind == .whip else {
            let keys =
                count == 1
                ? ["--key", quickstart.streamKey]
                : ["--keys", try gateway.makeStreamKeys(stages: (count + 9) / 10, each: 10).path, "--streams", "\(count)"]
            return ["rtmp", quickstart.rtmpURL] + keys
        }
        return [
            "whip", try #require(quickstart.whipURL), "--admin", try #require(quickstart.adminURL), "--access-key",
            try #require(quickstart.accessKeyId), "--secret", try #require(quickstart.secretAccessKey), "--streams", "\(count)",
        ]
    }

    /// Ends them and compares both sides: what was sent has arrived, once, but for what a kernel dropped.
    /// - Parameters:
    ///   - others: streams that others published meanwhile; nil for any number.
    ///   - dropped: datagrams that the gateway's kernel dropped before it could read them; on a quiet machine those that a test
    ///     knows of, else whatever the gateway tells.
    /// - Returns: what arrived, for more to be asked of it.
    @discardableResult
    func expectWhole(
        besides others: Int? = 0, dropped: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Received {
        let status = sender.interrupt(within: .seconds(60))
        #expect(status == 0, "\(sender.output) \(gateway.log.suffix(2_000))", sourceLocation: sourceLocation)
        gateway.letForward()
        let dropped = Soak.isAsked ? dropped : max(dropped, gateway.droppedDatagrams)
        #expect(receiver.interrupt(within: .seconds(60)) == 0, "\(receiver.output)", sourceLocation: sourceLocation)
        let sent = try JSONDecoder().decode(Sent.self, from: Data(sender.lastLine.utf8))
        let received = try JSONDecoder().decode(Received.self, from: Data(receiver.lastLine.utf8))
        #expect(sent.streams == count && sent.endedByServer == 0, "\(sender.lastLine)", sourceLocation: sourceLocation)
        #expect(
            others.map { received.sources == 2 * (count + $0) } ?? (received.sources >= 2 * count), "\(receiver.lastLine)",
            sourceLocation: sourceLocation)
        #expect(
            received.lost <= received.droppedByKernel + dropped && received.malformed == 0 && received.duplicates == 0,
            "\(receiver.lastLine)", sourceLocation: sourceLocation)
        #expect(received.firstPacketMilliseconds.count > 0, "\(receiver.lastLine)", sourceLocation: sourceLocation)
        // What is sent leaves within 500 ms or not at all; a machine that is busy otherwise adds what it likes.
        if Soak.isAsked {
            #expect(received.firstPacketMilliseconds.p99 < 500, "\(receiver.lastLine)", sourceLocation: sourceLocation)
        }
        if let packets = sent.packets {
            // Sound that comes before the first picture is left out: some, where the encoder gets no processor in between.
            let early = Soak.isAsked ? 0 : count * Self.maximumEarlySound
            #expect(
                received.received + received.droppedByKernel + dropped + early >= packets,
                "\(sender.lastLine)\n\(receiver.lastLine)", sourceLocation: sourceLocation)
        }
        return received
    }
}

extension Gateway {
    /// Lets go out what has come: the last packets leave within 500 ms, where the machine lets them.
    func letForward() {
        var (count, before) = (0.0, -1.0)
        for _ in 0..<8 where count != before {
            letPass(.milliseconds(700))
            (before, count) = (count, (try? metrics().sum("stagedoor_forward_packets_total")) ?? count)
        }
    }

    /// That came to the media port while nobody came to read them, of whatever kind.
    var droppedDatagrams: Int { Int((try? metrics().sum("stagedoor_udp_rcvbuf_errors_total")) ?? 0) }
}
