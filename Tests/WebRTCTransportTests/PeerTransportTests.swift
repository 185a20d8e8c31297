import DTLS
import EventLoop
import GatewayMetrics
import Refusals
import Sockets
import Testing
import Wire

@testable import WebRTCTransport

@Suite("A session's transport", .timeLimit(.minutes(10)))
struct PeerTransportTests {
    private let port: MediaPort
    private let entry: StubEntry
    private let peer: UDPSocket
    private let transport: PeerTransport
    private let scheduler: HandshakeScheduler

    init() throws {
        let context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        port = try MediaPort(loop: try EventLoop(), index: 0, socket: socket, context: context)
        peer = try UDPSocket(loop: port.loop, address: SocketAddress(.loopback, port: 0))
        entry = StubEntry(on: context)
        transport = PeerTransport(
            entry: entry, port: port, path: MediaPath(remote: peer.localAddress), now: port.loop.now)
        scheduler = HandshakeScheduler.of(port.loop)
        // From here on every step waits until the loop turns.
        while scheduler.counters.delayed == 0 {
            scheduler.perform(.authenticated, from: .loopback) {
                let end = EventLoop.threadCPU() + .milliseconds(1)
                while EventLoop.threadCPU() < end {}
            }
        }
    }

    @Test func `of the datagrams of one handshake no more than a flight waits for its turn`() throws {
        let client = try DTLSConnection(DTLSContext(DTLSCertificate.make()), role: .client, expecting: [])
        try client.start()
        let hello = try #require(client.takeOutgoing().first)
        let before = scheduler.counters.delayed
        for _ in 0..<100 {
            hello.withUnsafeBytes { transport.receiveDTLS($0, on: transport.path) }
        }
        #expect(scheduler.counters.delayed - before == PeerHandshake.maximumWaitingSteps)
        var isAnswered = false
        peer.onDatagrams = { _ in isAnswered = true }
        #expect(port.loop.run(until: { isAnswered }, within: .seconds(120)))
        transport.end(.shutdown)
        port.stop()
    }

    @Test func `one that has ended is gone once what waits has had its turn`() {
        weak var ended: PeerTransport?
        do {
            let transport = PeerTransport(
                entry: StubEntry(on: port.context), port: port, path: MediaPath(remote: peer.localAddress), now: port.loop.now)
            transport.startHandshake()
            transport.end(.shutdown)
            ended = transport
        }
        #expect(port.loop.run(until: { ended == nil }, within: .seconds(120)))
        transport.end(.shutdown)
        port.stop()
    }

    /// The client offers none of ours: its handshake is whole, and there is no key that both know.
    @Test func `a handshake without a common SRTP profile ends the session`() throws {
        let certificate = try DTLSCertificate.make()
        let entry = StubEntry(
            on: port.context, fingerprints: [CertificateFingerprint(hash: "sha-256", bytes: certificate.fingerprint)])
        let transport = PeerTransport(
            entry: entry, port: port, path: MediaPath(remote: peer.localAddress), now: port.loop.now)
        let client = try DTLSConnection(
            DTLSContext(certificate, srtpProfiles: "SRTP_AES128_CM_SHA1_32"), role: .client,
            expecting: [CertificateFingerprint(hash: "sha-256", bytes: entry.transport.certificate.fingerprint)])
        func deliver() {
            for datagram in client.takeOutgoing() {
                datagram.withUnsafeBytes { transport.receiveDTLS($0, on: transport.path) }
            }
        }
        peer.onDatagrams = { batch in
            for datagram in batch { _ = try? client.receive(UnsafeRawBufferPointer(datagram.payload)) }
            deliver()
        }
        try client.start()
        deliver()
        #expect(port.loop.run(until: { transport.isClosed }, within: .seconds(120)))
        #expect(entry.ended == .refused(Refusal(.noSRTPProfile)))
        self.transport.end(.shutdown)
        port.stop()
    }

    /// A client on a way longer than we wait for its answer: as if it heard our flight when that has been sent again.
    @Test func `a flight that was sent twice is timed from the first`() throws {
        let certificate = try DTLSCertificate.make()
        let entry = StubEntry(
            on: port.context, fingerprints: [CertificateFingerprint(hash: "sha-256", bytes: certificate.fingerprint)])
        let transport = PeerTransport(
            entry: entry, port: port, path: MediaPath(remote: peer.localAddress), now: port.loop.now)
        let client = try DTLSConnection(
            DTLSContext(certificate), role: .client,
            expecting: [CertificateFingerprint(hash: "sha-256", bytes: entry.transport.certificate.fingerprint)])
        func deliver() {
            for datagram in client.takeOutgoing() {
                datagram.withUnsafeBytes { transport.receiveDTLS($0, on: transport.path) }
            }
        }
        var firstCame: MonotonicTime?
        peer.onDatagrams = { [port] batch in
            let came = firstCame ?? port.loop.now
            firstCame = came
            guard port.loop.now - came >= .milliseconds(200) else { return }
            for datagram in batch { _ = try? client.receive(UnsafeRawBufferPointer(datagram.payload)) }
            deliver()
        }
        try client.start()
        deliver()
        #expect(port.loop.run(until: { !transport.isHandshaking }, within: .seconds(120)))
        #expect(try #require(transport.handshakeRoundTrip) >= .milliseconds(200))
        transport.end(.shutdown)
        self.transport.end(.shutdown)
        port.stop()
    }

    @Test func `a handshake that broke may be begun again three times`() throws {
        let client = try DTLSConnection(DTLSContext(DTLSCertificate.make()), role: .client, expecting: [])
        try client.start()
        var hello = try #require(client.takeOutgoing().first)
        // Behind the record's header, the message's, the version, the random and two empty fields: no cipher suite that we know.
        let suites = Int(hello[61]) << 8 | Int(hello[62])
        for index in 63..<(63 + suites) { hello[index] = 0 }
        let failed = port.context.metrics.failedHandshakes
        for number in 1...6 {
            hello.withUnsafeBytes { transport.receiveDTLS($0, on: transport.path) }
            #expect(port.loop.run(until: { failed.value >= min(number, 4) }, within: .seconds(120)))
        }
        // Behind whatever may wait.
        var isOver = false
        scheduler.perform(.authenticated, from: .loopback) { isOver = true }
        #expect(port.loop.run(until: { isOver }, within: .seconds(120)))
        #expect(failed.value == 4 && !transport.isClosed)
        transport.end(.shutdown)
        port.stop()
    }

    @Test func `a ClientHello that is refused its turn is sent when there is room again`() throws {
        while scheduler.perform(.authenticated, from: .loopback, {}) {}
        transport.startHandshake()
        var isReached = false
        peer.onDatagrams = { _ in isReached = true }
        #expect(port.loop.run(until: { isReached }, within: .seconds(120)))
        transport.end(.shutdown)
        port.stop()
    }
}
