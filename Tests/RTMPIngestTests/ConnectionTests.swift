import AMF0
import Admission
import EventLoop
import GatewayMetrics
import Glibc
import MediaContract
import Monitoring
import Refusals
import Settings
import Sockets
import StageHub
import Testing
import Wire

@testable import RTMPIngest

@Suite("RTMP connection")
struct ConnectionTests {
    @Test func `publishes, forwards and gives the key back at unpublish`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.message(9, PipelineTests.sequenceHeader)
        encoder.message(9, timestamp: 40, PipelineTests.idr)
        #expect(bench.run(until: { bench.host.sinks.first?.keyframeCount == 1 }))
        #expect(bench.leases.liveCount == 1)
        encoder.command("FCUnpublish", 4, .null, ["KEY"])
        #expect(bench.leases.liveCount == 0)
        #expect(bench.host.ends == [.closed])
        #expect(bench.host.sinks[0].end == .closed)
    }

    @Test func `publishes again on the same connection once its stream was deleted`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.command("deleteStream", 0, .null, [1.0])
        #expect(bench.leases.liveCount == 0)
        encoder.command("createStream", 4)
        encoder.command("publish", 5, .null, ["KEY", "live"])
        encoder.message(9, PipelineTests.sequenceHeader)
        encoder.message(9, PipelineTests.idr)
        #expect(bench.run(until: { bench.host.sinks.last?.keyframeCount == 1 }))
        #expect(bench.host.publications.count == 2 && bench.host.ends == [.closed] && bench.leases.liveCount == 1)
    }

    @Test func `turns away who publishes again and again on one connection`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        var count = 1
        while !encoder.isClosing {
            try #require(count < 1_000)
            try #require(bench.run(until: { bench.host.publications.count == count || encoder.isClosing }))
            encoder.command("deleteStream", 0, .null, [1.0])
            encoder.command("createStream", 4)
            encoder.command("publish", 5, .null, ["KEY", "live"])
            count += 1
        }
        #expect(bench.host.publications.count >= RTMPConnection.maximumPublishesAtOnce)
        #expect(encoder.words.contains("SD-1129") && bench.leases.liveCount == 0)
    }

    @Test func `what it reads counts as media while its publish is live`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        #expect(!encoder.carriesMedia)
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        #expect(encoder.carriesMedia)
        encoder.command("FCUnpublish", 4, .null, ["KEY"])
        #expect(!encoder.carriesMedia)
    }

    @Test func `keeps media that follows publish at once`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        encoder.message(9, PipelineTests.sequenceHeader)
        encoder.message(9, PipelineTests.idr)
        #expect(bench.run(until: { bench.host.sinks.first?.keyframeCount == 1 }))
    }

    @Test func `gives the key back when the peer is gone`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.drop()
        #expect(bench.leases.liveCount == 0)
        #expect(bench.host.ends == [.connectionLost])
        #expect(bench.ingest.connectionCount == 0)
        #expect(bench.ingest.environment.admission.count == 0)
    }

    @Test func `counts against the node's limit while its publish is set up`() throws {
        let bench = try IngestBench()
        bench.gate.maximumPublishes = 1
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        #expect(bench.gate.startingPublishes == 0, "the host counts it now")
        // It waits for the first one's silence.
        let waiting = bench.connect(from: "192.0.2.2:1")
        waiting.connectAndPublish()
        #expect(bench.run(until: { bench.gate.startingPublishes == 1 }))
        let third = bench.connect(from: "192.0.2.3:1")
        third.connectAndPublish()
        #expect(bench.run(until: { third.isClosing }))
        #expect(third.words.contains("SD-1071"))
        waiting.drop()
        #expect(bench.gate.startingPublishes == 0)
    }

    @Test func `refuses an unknown key in words`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish("WRONG")
        #expect(bench.run(until: { encoder.isClosing }))
        #expect(encoder.words.contains("NetStream.Publish.Denied"))
        #expect(encoder.words.contains("SD-1001: No ingest configuration"))
        #expect(!encoder.words.contains("WRONG"))
        let attempt = try #require(bench.board.refused.first)
        #expect(attempt.credentialHash == "02b60b3b9ed309b7" && attempt.grant == nil)
    }

    @Test func `tries the other readings of a key`() throws {
        let bench = try IngestBench(keys: ["inst/KEY"])
        let encoder = bench.connect()
        encoder.connectAndPublish("KEY", app: "app/inst")
        #expect(bench.run(until: { encoder.hasStarted }))
        #expect(bench.authorizer.asked.withLock { $0 } == ["KEY", "inst/KEY"])
    }

    /// OBS writes what a publish is told to its log, and of a refused connect nothing.
    @Test(arguments: [
        ("live", "NetStream.Publish.Rejected", "SD-1020"), ("", "NetStream.Publish.Rejected", "SD-1020"),
        ("app?authmod=adobe&user=u", "NetStream.Publish.Denied", "SD-1021"),
    ])
    func `refuses what connect asked for where OBS shows it, at publish`(_ app: String, _ status: String, _ code: String) throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish(app: app)
        #expect(encoder.isClosing)
        #expect(encoder.words.contains("NetConnection.Connect.Success"))
        #expect(encoder.words.contains(status) && encoder.words.contains(code))
        #expect(bench.authorizer.asked.withLock { $0 }.isEmpty, "no credential is tried")
    }

    @Test func `says once more what an encoder has still to hear`() throws {
        let bench = try IngestBench()
        bench.host.remembered = Refusal(.malformedRTMP, sentence: "Set B-frames to 0.")
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.isClosing }))
        #expect(encoder.words.contains("SD-1022: Set B-frames to 0."))
        #expect(bench.leases.liveCount == 0)
    }

    @Test func `ends a publish in words, and gives the key back`() throws {
        let bench = try IngestBench()
        bench.host.inspector = ContractSession(
            context: ContractContext(), ingest: .rtmp,
            publisher: ContractPublisher(credential: "h1", source: .loopback, product: "Test/1.0"))
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.message(9, [0x90] + Array("hvc1".utf8) + [1])
        #expect(encoder.isClosing)
        #expect(encoder.words.contains("NetStream.Publish.Rejected") && encoder.words.contains("HEVC (H.265)"))
        #expect(bench.leases.liveCount == 0)
    }

    @Test func `ends a publish that is disconnected from elsewhere`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        bench.leases.holder(of: "p1")?.end(.disconnected(Refusal(.participantDisconnected)))
        #expect(bench.run(until: { encoder.isClosing }))
        #expect(encoder.words.contains("SD-1007"))
        #expect(bench.leases.liveCount == 0)
    }

    @Test func `answers HTTP with a readable 400`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.send(Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        #expect(encoder.isClosing)
        #expect(encoder.words.hasPrefix("HTTP/1.1 400 Bad Request"))
        let metrics = String(decoding: bench.ingest.environment.metrics.exposition(), as: UTF8.self)
        #expect(metrics.contains("stagedoor_rtmp_protocol_errors_total{reason=\"not_rtmp\"} 1\n"))
    }

    @Test(arguments: [[6], [8], [0], [0xFF, 0xFE], [0x16, 3, 1]] as [[UInt8]])
    func `closes on what is not RTMP`(_ bytes: [UInt8]) throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.send(bytes)
        #expect(encoder.isClosed)
        #expect(bench.ingest.connectionCount == 0)
    }

    @Test func `begins TLS with the bytes it has looked at`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.canStartTLS = true
        encoder.send([0x16, 3, 1, 2, 0])
        #expect(encoder.isTLS)
        #expect(encoder.tlsBytes == 5)
    }

    @Test func `ends a malformed publish in words`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.send([4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 9, 1, 0, 0, 0])
        #expect(encoder.isClosing)
        #expect(encoder.words.contains("SD-1025: The RTMP stream takes more than is allowed: a message of 16777215 bytes"))
    }

    /// What comes behind the handshake, or behind `connect`; words that the encoder is told, and the label of the metric.
    static let nonsense: [(bytes: [UInt8], isConnected: Bool, words: [String], label: String)] = [
        (
            chunkSize0, false, ["_error", "NetConnection.Connect.Rejected", "SD-1022: The RTMP stream is malformed"],
            "malformed_rtmp"
        ),
        (chunkSize0, true, ["NetStream.Publish.Rejected", "SD-1022: The RTMP stream is malformed"], "malformed_rtmp"),
        (longMessage, false, ["_error", "SD-1025: "], "excessive_rtmp"),
        (longMessage, true, ["NetStream.Publish.Rejected", "SD-1025: "], "excessive_rtmp"),
        (unreadable, false, ["_error", "SD-1026: "], "malformed_command"),
        (unreadable, true, ["NetStream.Publish.Rejected", "SD-1026: "], "malformed_command"),
        (
            createStream, false, ["_error", "SD-1027: The encoder spoke out of turn: a command came before connect."],
            "out_of_turn"
        ),
        (video, true, ["NetStream.Publish.Rejected", "SD-1027: "], "out_of_turn"),
    ]

    private static let chunkSize0: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    private static let longMessage: [UInt8] = [5, 0, 0, 0, 0xFF, 0xFF, 0xFF, 20, 0, 0, 0, 0]
    /// A command whose name is longer than its message.
    private static let unreadable: [UInt8] = [5, 0, 0, 0, 0, 0, 4, 20, 0, 0, 0, 0, 2, 0, 9, 0x61]
    private static let createStream: [UInt8] =
        [5, 0, 0, 0, 0, 0, 24, 20, 0, 0, 0, 0] + [AMF0Value.string("createStream"), 2.0].amf0Bytes
    private static let video: [UInt8] = [5, 0, 0, 0, 0, 0, 1, 9, 1, 0, 0, 0, 0x17]

    @Test(arguments: nonsense.indices)
    func `says what was wrong before anything was published`(_ row: Int) throws {
        let (bytes, isConnected, words, label) = Self.nonsense[row]
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.handshake()
        if isConnected { encoder.command("connect", 1, .object(["app": "app"])) }
        encoder.send(bytes)
        #expect(encoder.isClosing)
        for word in words { #expect(encoder.words.contains(word), "\(encoder.words)") }
        let metrics = String(decoding: bench.ingest.environment.metrics.exposition(), as: UTF8.self)
        #expect(metrics.contains("stagedoor_rtmp_protocol_errors_total{reason=\"\(label)\"} 1\n"))
        #expect(bench.authorizer.asked.withLock { $0 }.isEmpty)
    }

    @Test func `leaves a peer alone that asks and never reads`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.handshake()
        encoder.pendingWriteByteCount = 100_000
        encoder.command("connect", 1, .object(["app": "app"]))
        #expect(encoder.isClosed)
    }

    @Test func `tells a publisher that does not read of all that has come once it does`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        let heard = encoder.received.count
        encoder.pendingWriteByteCount = 1
        for _ in 0..<3 { encoder.message(9, [UInt8](repeating: 0x27, count: 1_000_000)) }
        #expect(encoder.received.count == heard)
        encoder.pendingWriteByteCount = 0
        encoder.message(9, [0x27, 1])
        #expect(encoder.received.count == heard + 16, "one acknowledgement")
        #expect(bench.leases.liveCount == 1)
    }

    /// A publish that ends has more to do with its connection after the words that such a peer does not read.
    @Test func `ends the publish of a peer that never reads`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.pendingWriteByteCount = 100_000
        bench.leases.holder(of: "p1")?.end(.disconnected(Refusal(.participantDisconnected)))
        #expect(bench.run(until: { encoder.isClosing }))
        #expect(bench.leases.liveCount == 0)
        #expect(bench.host.ends.count == 1)
    }
}

@Suite("RTMP deadlines and limits")
struct ConnectionLimitTests {
    private func settings(_ change: (inout RTMPSettings) -> Void) -> RTMPSettings {
        var settings = RTMPSettings()
        change(&settings)
        return settings
    }

    private func limits(_ change: (inout LimitSettings) -> Void) -> LimitSettings {
        var limits = LimitSettings()
        change(&limits)
        return limits
    }

    @Test func `ends a handshake that dribbles`() throws {
        let bench = try IngestBench(settings { $0.handshakeTimeout = .milliseconds(50) })
        let encoder = bench.connect()
        encoder.send([3, 0, 0])
        #expect(bench.run(until: { encoder.isClosed }))
        #expect(bench.ingest.environment.admission.count == 0)
    }

    @Test func `ends a connection that does not publish in time, from accepting on`() throws {
        let bench = try IngestBench(settings { $0.publishTimeout = .seconds(2) })
        let encoder = bench.connect()
        encoder.handshake()
        encoder.command("connect", 1, .object(["app": "app"]))
        #expect(bench.run(until: { encoder.isClosing }, within: .seconds(120)))
        #expect(encoder.words.contains("SD-1023"))
    }

    @Test func `ends a connection on which nothing follows its publish, and calls that no refusal`() throws {
        let bench = try IngestBench(settings { $0.publishTimeout = .seconds(2) })
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.command("deleteStream", 0, .null, [1.0])
        #expect(bench.run(until: { encoder.isClosed }, within: .seconds(120)))
        #expect(!encoder.words.contains("SD-1023"))
    }

    @Test func `ends a publish without media in words, and calls that no refusal`() throws {
        let bench = try IngestBench(settings { $0.idleTimeout = .milliseconds(100) })
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.isClosing }, within: .seconds(120)))
        #expect(encoder.words.contains("NetStream.Publish.Rejected") && encoder.words.contains("SD-1028: No media came for "))
        #expect(bench.leases.liveCount == 0 && bench.host.ends == [.connectionLost])
    }

    @Test func `takes no standstill of its own for an encoder's silence`() throws {
        let bench = try IngestBench(settings { $0.idleTimeout = .milliseconds(300) })
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        usleep(1_000_000)
        // Due after the look for silence, as what waits in a socket may be.
        var isRead = false
        let reading = bench.loop.schedule(after: .zero) { isRead = true }
        #expect(bench.run(until: { isRead }, within: .seconds(120)))
        #expect(!encoder.isClosing && bench.leases.liveCount == 1)
        #expect(bench.run(until: { encoder.isClosing }, within: .seconds(120)), "Then it counts anew")
        reading.cancel()
    }

    @Test func `refuses when nobody decides`() throws {
        let bench = try IngestBench(settings { $0.decisionTimeout = .milliseconds(100) })
        bench.authorizer.isSilent.withLock { $0 = true }
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.isClosing }, within: .seconds(120)))
        #expect(encoder.words.contains("SD-1014"))
    }

    @Test func `frees connections that are over`() throws {
        let bench = try IngestBench()
        let encoder = bench.connect()
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        encoder.message(9, PipelineTests.sequenceHeader)
        encoder.drop()
        #expect(encoder.connection == nil)
    }

    @Test func `takes no more from one address than allowed, publishing ones not counted`() throws {
        let bench = try IngestBench(limits: limits { $0.connectionsPerAddress = 2 })
        let first = bench.connect(from: "192.0.2.1:1")
        first.connectAndPublish()
        #expect(bench.run(until: { first.hasStarted }))
        let others = (2...4).map { bench.connect(from: "192.0.2.1:\($0)") }
        #expect(others.map(\.isClosed) == [false, false, true])
        #expect(!bench.connect(from: "192.0.2.2:1").isClosed)
    }

    @Test func `lets the oldest stranger go when all together keep too much`() throws {
        let bench = try IngestBench()
        // Each declares 60,000 bytes: 1,118 of them are within 64 MiB, the next is not.
        let begun: [UInt8] = [3, 0, 0, 0, 0, 0xEA, 0x60, 20, 0, 0, 0, 0] + [UInt8](repeating: 5, count: 128)
        let encoders = (0..<1_119).map { bench.connect(from: "10.\($0 / 200).\($0 % 200).1:1") }
        for encoder in encoders.dropLast() {
            encoder.handshake()
            encoder.send(begun)
        }
        #expect(!encoders.contains { $0.isClosed })
        encoders[1_118].handshake()
        encoders[1_118].send(begun)
        #expect(encoders.filter(\.isClosed).count == 1 && encoders[0].isClosed)
        for encoder in encoders.dropFirst() { encoder.drop() }
        #expect(bench.ingest.environment.admission.keeps(0) && bench.ingest.environment.admission.count == 0)
    }

    @Test func `has no more connections than allowed: a stranger makes way, a publish does not`() throws {
        let bench = try IngestBench(settings { $0.maximumConnections = 2 })
        let publisher = bench.connect()
        publisher.connectAndPublish()
        #expect(bench.run(until: { publisher.hasStarted }))
        let strangers = (1...2).map { bench.connect(from: "192.0.2.\($0):1") }
        #expect(strangers.map(\.isClosed) == [true, false] && !publisher.isClosed)
        #expect(bench.ingest.connectionCount == 2 && bench.ingest.metrics.displaced.value == 1)
    }

    @Test func `takes none when every one it may have publishes, until one has gone`() throws {
        let bench = try IngestBench(settings { $0.maximumConnections = 1 })
        let publisher = bench.connect()
        publisher.connectAndPublish()
        #expect(bench.run(until: { publisher.hasStarted }))
        #expect(bench.connect().isClosed && !publisher.isClosed && bench.ingest.metrics.refused.value == 1)
        publisher.drop()
        #expect(!bench.connect().isClosed)
    }

    @Test func `lets the oldest stranger go over the limit`() throws {
        let bench = try IngestBench(limits: limits { $0.unauthenticatedConnections = 3 })
        let encoders = (1...5).map { bench.connect(from: "192.0.2.\($0):1") }
        #expect(encoders.map(\.isClosed) == [true, true, false, false, false])
        #expect(bench.ingest.environment.admission.count == 3)
    }

    private static let balancers = [IPNetwork("10.0.0.0/8")].compactMap(\.self)

    /// For 198.51.100.7:40000.
    private static let proxyHeader: [UInt8] =
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
        + [198, 51, 100, 7, 10, 0, 0, 2, 0x9C, 0x40, 0x07, 0x8F]

    @Test func `takes the peer from a trusted balancer, and nothing without its header`() throws {
        let bench = try IngestBench(trustedProxies: Self.balancers)
        let encoder = bench.connect(from: "10.0.0.1:5")
        encoder.send(Self.proxyHeader)
        #expect(encoder.connection?.source == SocketAddress("198.51.100.7:40000"))
        #expect(encoder.remoteAddress == SocketAddress("198.51.100.7:40000"), "what limits count by")
        encoder.connectAndPublish()
        #expect(bench.run(until: { encoder.hasStarted }))
        let bare = bench.connect(from: "10.0.0.1:6")
        bare.handshake()
        #expect(bare.isClosed)
        // nginx knows no other version.
        let texted = bench.connect(from: "10.0.0.1:7")
        texted.send(Array("PROXY TCP4 198.51.100.7 10.0.0.2 40000 1935\r\n".utf8))
        #expect(texted.isClosed && bench.ingest.metrics.headless.value == 2)
    }

    @Test func `what was TLS up to a trusted balancer is RTMPS, and nothing else behind it`() throws {
        let bench = try IngestBench(trustedProxies: Self.balancers)
        bench.gate.requiresTLS = true
        let (head, addresses) = (Array(Self.proxyHeader.prefix(14)), Array(Self.proxyHeader.suffix(12)))
        // PP2_TYPE_SSL, with PP2_CLIENT_SSL.
        let (length, value): ([UInt8], [UInt8]) = ([0, 20], [0x20, 0, 5, 0x01, 0, 0, 0, 0])
        let (plain, ended) = (bench.connect(from: "10.0.0.1:5"), bench.connect(from: "10.0.0.1:6"))
        plain.send(Self.proxyHeader)
        plain.connectAndPublish()
        ended.send(head + length + addresses + value)
        ended.connectAndPublish()
        #expect(bench.run(until: { ended.hasStarted && plain.words.contains("SD-1003") }))
        #expect(!plain.hasStarted)
    }

    @Test func `a balancer's connection is a stranger's from its header on, the youngest, and is displaced in its turn`() throws {
        let bench = try IngestBench(limits: limits { $0.unauthenticatedConnections = 2 }, trustedProxies: Self.balancers)
        let balanced = bench.connect(from: "10.0.0.1:5")
        let strangers = (1...2).map { bench.connect(from: "192.0.2.\($0):1") }
        balanced.send(Self.proxyHeader)
        #expect(strangers.map(\.isClosed) == [true, false] && !balanced.isClosed)
        let newcomers = (3...4).map { bench.connect(from: "192.0.2.\($0):1") }
        #expect(strangers[1].isClosed && balanced.isClosed)
        #expect(newcomers.map(\.isClosed) == [false, false] && bench.ingest.environment.admission.count == 2)
    }

    @Test func `a session's id has 16 hexadecimal digits, a second publish's one mark more`() {
        let story = ConnectionStory(of: SocketAddress(.loopback, port: 1))
        let (first, second) = (story.origin(ofPublish: 1).sessionID, story.origin(ofPublish: 2).sessionID)
        #expect(first.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        #expect(second == first + "-2")
        #expect(ConnectionStory(of: SocketAddress(.loopback, port: 1)).origin(ofPublish: 1).sessionID != first)
    }
}
