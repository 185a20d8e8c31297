import EventLoop
import Glibc
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("TCP streams", .timeLimit(.minutes(10)), .serialized)
struct TCPStreamTests {
    enum Kind: CaseIterable { case plain, tls }

    func server(_ kind: Kind) throws -> (server: Server, client: TLSContext?) {
        let loop = try EventLoop()
        switch kind {
        case .plain: return (try Server(loop: loop), nil)
        case .tls: return (try Server(loop: loop, tls: TestTLS.material().server), try TestTLS.material().client)
        }
    }

    @Test(arguments: Kind.allCases)
    func `megabytes are echoed whole`(kind: Kind) throws {
        let (server, tls) = try server(kind)
        server.prepare = { stream in
            stream.onBytes = { [unowned stream] bytes in
                stream.write(bytes)
                return bytes.count
            }
        }
        let client = try server.connect(tls: tls)
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        client.stream.write(sent)
        #expect(server.wait { client.received.count == sent.count })
        #expect(client.received == sent)
        #expect(client.stream.isTLS == (kind == .tls))
        #expect(server.wait { client.stream.pendingWriteBytes == 0 })
    }

    @Test(arguments: Kind.allCases)
    func `a parser that takes three bytes at a time misses none, however they arrive`(kind: Kind) throws {
        let (server, tls) = try server(kind)
        var taken: [UInt8] = []
        server.prepare = { stream in
            stream.onBytes = { bytes in
                guard bytes.count >= 3 else { return 0 }
                taken += bytes.prefix(3)
                return 3
            }
        }
        let client = try server.connect(tls: tls)
        let sent = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        var pieces = ByteFeeder.pieces(of: sent, size: 1)[...]
        let feeder = server.loop.schedule(after: .zero, repeating: .microseconds(100)) {
            if let piece = pieces.popFirst() { client.stream.write(piece) }
        }
        #expect(server.wait { taken.count == sent.count })
        #expect(taken == sent)
        feeder.cancel()
    }

    @Test(arguments: Kind.allCases)
    func `paused reading delivers nothing, resumed reading all of it`(kind: Kind) throws {
        let (server, tls) = try server(kind)
        var received = 0
        server.prepare = { stream in
            stream.onBytes = { [unowned stream] bytes in
                received += 1
                stream.pauseReading()
                return 1
            }
        }
        let client = try server.connect(tls: tls)
        client.stream.write([1, 2, 3, 4])
        #expect(server.wait { received == 1 })
        #expect(!server.loop.run(until: { received > 1 }, within: .milliseconds(20)))
        for count in 2...4 {
            server.accepted[0].resumeReading()
            #expect(server.wait { received == count })
        }
        client.stream.write([5])
        server.accepted[0].resumeReading()
        #expect(server.wait { received == 5 })
    }

    /// It is more than a stream keeps unread: read all the same, it left no room, and nothing read was taken for the peer's end.
    @Test(arguments: Kind.allCases)
    func `reading that is paused before the connection stands is paused then`(kind: Kind) throws {
        let (server, tls) = try server(kind)
        let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        server.prepare = { $0.write(sent) }
        let client = try server.connect(tls: tls)
        client.stream.pauseReading()
        #expect(server.wait { !server.accepted.isEmpty })
        #expect(!server.loop.run(until: { !client.received.isEmpty || client.closure != nil }, within: .milliseconds(100)))
        client.stream.resumeReading()
        #expect(server.wait { client.received.count == sent.count || client.closure != nil })
        #expect(client.received == sent && client.closure == nil)
    }

    @Test(arguments: Kind.allCases)
    func `a peer that closes is reported once`(kind: Kind) throws {
        let (server, tls) = try server(kind)
        let client = try server.connect(tls: tls)
        #expect(server.wait { client.isOpen && !server.accepted.isEmpty })
        client.stream.close()
        #expect(server.wait { !server.closures.isEmpty })
        #expect(server.closures == [.peerFinished])
        #expect(client.closure == nil)
    }

    @Test(arguments: Kind.allCases, [0, 30])
    func `last words arrive before the end, also while the peer goes on talking`(kind: Kind, pause: Int) throws {
        let (server, tls) = try server(kind)
        let lastWords = [UInt8](repeating: 0x5A, count: 1_000_000)
        server.prepare = { stream in
            stream.onBytes = { [unowned stream] bytes in
                stream.write(lastWords)
                stream.closeAfterFlush(lingering: .milliseconds(pause))
                return 0
            }
        }
        let client = try server.connect(tls: tls)
        let talker = server.loop.schedule(after: .zero, repeating: .milliseconds(1)) {
            client.stream.write([UInt8](repeating: 1, count: 5_000))
        }
        #expect(server.wait { client.closure != nil && !server.closures.isEmpty })
        #expect(client.received == lastWords)
        #expect(client.closure == .peerFinished)
        #expect(server.closures == [.flushed])
        talker.cancel()
    }

    @Test func `a peer that never closes is closed after the linger time`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        // Timers fire in the order of their deadlines, however late the loop is.
        var (isLate, wasLate, limit) = (false, true, TimerWatch?.none)
        server.prepare = { stream in
            let closed = stream.onClosed
            stream.onClosed = {
                wasLate = isLate
                closed($0)
            }
            stream.closeAfterFlush()
            limit = loop.schedule(after: .seconds(4)) { isLate = true }
        }
        let client = try server.connect()
        client.stream.onPeerFinished = {}  // stays open
        #expect(server.wait { !server.closures.isEmpty })
        #expect(!wasLate)
        withExtendedLifetime(limit) {}
    }

    @Test func `a stream that is closing needs no owner`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        let client = try server.connect()
        #expect(server.wait { server.accepted.count == 1 })
        server.accepted[0].write([1, 2, 3])
        server.accepted[0].closeAfterFlush(lingering: .milliseconds(20))
        var isGone = false
        server.accepted[0].onClosed = { _ in isGone = true }
        server.accepted = []
        #expect(server.wait { client.closure == .peerFinished && isGone })
        #expect(client.received == [1, 2, 3])
    }

    @Test(arguments: Kind.allCases)
    func `a handler may close, or drop, its own stream`(kind: Kind) throws {
        let (server, tls) = try server(kind)
        var calls = 0
        server.prepare = { stream in
            stream.onBytes = { [unowned server] bytes in
                calls += 1
                server.accepted = []
                return 1
            }
        }
        let client = try server.connect(tls: tls)
        client.stream.write([1, 2, 3])
        #expect(server.wait { client.closure != nil })
        #expect(calls >= 1)
        #expect(server.closures.isEmpty)

        server.prepare = { stream in
            stream.onBytes = { [unowned stream] bytes in
                stream.close()
                stream.write([1])
                return bytes.count
            }
        }
        let second = try server.connect(tls: tls)
        second.stream.write([1, 2, 3])
        #expect(server.wait { second.closure != nil })
    }
}
