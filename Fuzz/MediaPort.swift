// fuzz: module=WebRTCTransport
import DTLS
import EventLoop
import GatewayMetrics
import Glibc
import STUN
import Sockets
import Wire

@testable import WebRTCTransport

/// Any datagram at the media port: from a stranger, and from a peer whose check was genuine, with whom DTLS may begin.
enum MediaPortFuzz {
    nonisolated(unsafe) private static var target: Target?

    /// The first byte says who sends; the rest is the datagram.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let sender = bytes.first else { return }
        if target?.isUsable != true { target = try? Target() }
        target?.receive(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), isPeer: sender & 1 == 1)
    }

    /// A port with one session, whose peer has been checked. It never turns its loop: datagrams are handed to it.
    private final class Target {
        /// Few targets: a loop that has had a handshake is never freed, because its scheduler keeps it (a program's loops live as long
        /// as it does), and a thousand of them are 280 MB.
        private static let maximumInputs = 100_000
        private static let stranger = SocketAddress(.loopback, port: 9)
        private static let peer = SocketAddress(.loopback, port: 7)

        private let loop: EventLoop
        private let plane: TransportPlane
        private let port: MediaPort
        private let entry: Entry
        private let maker = Maker()
        private let thread = pthread_self()
        private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 66_000, alignment: 8)
        private var inputs = 0

        init() throws {
            loop = try EventLoop()
            plane = try TransportPlane(
                configuration: TransportConfiguration(advertisedAddresses: [Self.stranger]), workerCount: 1,
                metrics: TransportMetrics(MetricsRegistry()))
            port = try MediaPort(
                loop: loop, index: 0, socket: BoundSocket(.udp, SocketAddress(.loopback, port: 0)), plane: plane)
            let peer = PeerDescription(
                isDTLSClient: false,
                fingerprints: [CertificateFingerprint(hash: "sha-256", bytes: .init(repeating: 7, count: 32))],
                iceOptions: [], ufrag: "peer", bundleMids: ["0"], taggedMid: "0", allowsMixedExtensions: false)
            entry = Entry(plane.makeState(for: peer, token: Secret("token"), now: loop.now))
            port.sessionMakers[.publish] = maker
            plane.add(entry)
            check()
        }

        deinit {
            port.stop()
            buffer.deallocate()
        }

        /// Sessions end by what they are sent, and a loop belongs to the thread that made it.
        var isUsable: Bool {
            inputs < Self.maximumInputs && entry.transport.current != .ended && pthread_equal(thread, pthread_self()) != 0
        }

        private func check() {
            guard let credentials = entry.transport.newestCredentials else { return }
            let check = STUNClient().check(
                username: "\(credentials.ufrag):peer", password: credentials.password, useCandidate: true)
            check.withUnsafeBytes { receive($0, isPeer: true) }
            precondition(port.tuples.count == 1, "the check was genuine: without its tuple nothing below is reached")
        }

        func receive(_ datagram: UnsafeRawBufferPointer, isPeer: Bool) {
            inputs += 1
            guard datagram.count < buffer.count - 64 else { return }
            buffer.copyMemory(from: datagram)
            let path = MediaPath(remote: isPeer ? Self.peer : Self.stranger, local: .loopback)
            port.receive(UnsafeMutableRawBufferPointer(rebasing: buffer[..<datagram.count]), on: path, at: loop.now)
            port.endBatch()
        }
    }

    private final class Entry: TransportEntry {
        let transport: TransportState
        let purpose = TransportPurpose.publish

        init(_ transport: TransportState) { self.transport = transport }

        func reached(_ step: TransportStep, peer: SocketAddress) {}
        func checkRejected() {}
        func finish(_ reason: SessionEnd) {}
    }

    private final class Maker: TransportSessionMaker {
        func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession { Session() }
    }

    private final class Session: TransportSession {
        let wantsEveryTick = false
        func transportReady() {}
        func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {}
        func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {}
        func flush() {}
        func tick(at now: MonotonicTime, isSlow: Bool) {}
        func transportEnded(_ reason: SessionEnd) {}
    }
}
