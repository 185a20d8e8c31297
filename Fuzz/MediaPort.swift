// fuzz: module=WebRTCTransport
import DTLS
import EventLoop
import GatewayMetrics
import Glibc
import Refusals
import STUN
import Sockets
import Wire

@testable import WebRTCTransport

/// Any datagram at the media port: from a stranger, and from two peers whose checks were genuine, with whom DTLS may begin. What
/// one of them sends, from wherever, takes nothing from the other.
enum MediaPortFuzz {
    nonisolated(unsafe) private static var target: Target?

    /// The first byte says who sends; the rest is the datagram.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let sender = bytes.first else { return }
        if target?.isUsable != true { target = try? Target() }
        target?.receive(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), from: Sender(sender))
    }

    private enum Sender: Equatable {
        case stranger
        case peer(Int)
        /// A genuine check of the other session from this peer's address, in place of the datagram.
        case other(at: Int)

        init(_ byte: UInt8) {
            self =
                switch byte & 7 {
                case 1, 3: .peer(Int(byte & 7) / 2)
                case 5, 7: .other(at: Int(byte & 7) / 2 - 2)
                default: .stranger
                }
        }
    }

    /// A port with two sessions, whose peers have been checked. It never turns its loop: datagrams are handed to it.
    private final class Target {
        private static let maximumInputs = 100_000
        private static let stranger = SocketAddress(.loopback, port: 9)
        private static let peers = [SocketAddress(.loopback, port: 7), SocketAddress(.loopback, port: 8)]

        private let loop: EventLoop
        private let context: TransportContext
        private let port: MediaPort
        private let entries: [Entry]
        /// Who has sent anything: his session may have ended by it.
        private var hasSpoken = [false, false]
        private let maker = Maker()
        private let thread = pthread_self()
        private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 66_000, alignment: 8)
        private var inputs = 0

        init() throws {
            loop = try EventLoop()
            context = try TransportContext(
                configuration: TransportConfiguration(advertisedAddresses: [Self.stranger]), workerCount: 1,
                metrics: TransportMetrics(MetricsRegistry()))
            port = try MediaPort(
                loop: loop, index: 0, socket: BoundSocket(.udp, SocketAddress(.loopback, port: 0)), context: context)
            let peer = PeerDescription(
                isDTLSClient: false,
                fingerprints: [CertificateFingerprint(hash: "sha-256", bytes: .init(repeating: 7, count: 32))],
                iceOptions: [], ufrag: "peer", bundleMids: ["0"], taggedMid: "0", allowsMixedExtensions: false)
            let (context, now) = (context, loop.now)
            entries = Self.peers.map { _ in Entry(context.makeState(for: peer, token: Secret("token"), now: now)) }
            port.sessionMakers[.publish] = maker
            for index in entries.indices {
                context.add(entries[index])
                check(of: index, from: Self.peers[index])
            }
            precondition(port.tuples.count == 2, "the checks were genuine: without tuples nothing below is reached")
        }

        deinit {
            port.stop()
            buffer.deallocate()
        }

        /// Sessions end by what they are sent, and a loop belongs to the thread that made it.
        var isUsable: Bool {
            inputs < Self.maximumInputs && entries.allSatisfy { $0.transport.ownership != .ended }
                && pthread_equal(thread, pthread_self()) != 0
        }

        private func check(of index: Int, from source: SocketAddress) {
            guard let credentials = entries[index].transport.newestCredentials else { return }
            let check = STUNClient().check(
                username: "\(credentials.ufrag):peer", password: credentials.password, useCandidate: true)
            check.withUnsafeBytes { receive($0, from: source) }
        }

        func receive(_ datagram: UnsafeRawBufferPointer, from sender: Sender) {
            inputs += 1
            switch sender {
            case .stranger: receive(datagram, from: Self.stranger)
            case .peer(let index):
                hasSpoken[index] = true
                receive(datagram, from: Self.peers[index])
            case .other(let index): check(of: 1 - index, from: Self.peers[index])
            }
            for index in entries.indices where !hasSpoken[index] { expectUnhurt(index) }
        }

        /// Who has said nothing since its check has lost nothing.
        private func expectUnhurt(_ index: Int) {
            let path = MediaPath(remote: Self.peers[index], local: .loopback)
            precondition(entries[index].transport.ownership == .pending, "another's datagram ended or claimed a session")
            var tuples = port.tuples
            precondition(tuples.find(path.key)?.first.entry === entries[index], "another's datagram took a tuple")
        }

        private func receive(_ datagram: UnsafeRawBufferPointer, from source: SocketAddress) {
            guard datagram.count < buffer.count - 64 else { return }
            buffer.copyMemory(from: datagram)
            let path = MediaPath(remote: source, local: .loopback)
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
        func transportReady() {}
        func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {}
        func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {}
        func flush() {}
        func look(at now: MonotonicTime) {}
        func transportEnded(_ reason: SessionEnd) {}
    }
}
