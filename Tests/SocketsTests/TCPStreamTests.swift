import EventLoop
import Glibc
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("TCP streams", .timeLimit(.minutes(1)), .serialized)
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
        server.prepare = { $0.closeAfterFlush() }
        let client = try server.connect()
        client.stream.onPeerFinished = {}  // stays open
        let start = EventLoop.monotonicNow()
        #expect(server.wait { !server.closures.isEmpty })
        #expect(EventLoop.monotonicNow() - start < .seconds(4))
    }

    @Test func `a stream that is closing needs no owner`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        let client = try server.connect()
        #expect(server.wait { server.accepted.count == 1 })
        server.accepted[0].write([1, 2, 3])
        server.accepted[0].closeAfterFlush(lingering: .milliseconds(20))
        server.accepted[0].onClosed = { _ in }
        server.accepted = []
        #expect(server.wait { client.closure == .peerFinished })
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

    @Test func `a parser that takes nothing is stopped at its limit`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        server.prepare = { $0.onBytes = { _ in 0 } }
        let client = try server.connect()
        client.stream.write([UInt8](repeating: 0, count: 200_000))
        #expect(server.wait { !server.closures.isEmpty })
        #expect(server.closures == [.tooMuchUnconsumed])
    }

    @Test func `a peer that does not read is dropped when too much waits`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        server.prepare = { stream in
            stream.maximumPendingWriteBytes = 1_000_000
            stream.write([UInt8](repeating: 0, count: 20_000_000))
        }
        let client = try server.connect()
        client.stream.pauseReading()
        #expect(server.wait { !server.closures.isEmpty })
        #expect(server.closures == [.tooMuchUnsent])
    }

    @Test func `what waits is drained, and that is told`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        var drained = 0
        server.prepare = { stream in
            stream.onDrained = { drained += 1 }
            stream.maximumPendingWriteBytes = 32 << 20
            stream.write([UInt8](repeating: 7, count: 20_000_000))
            #expect(stream.pendingWriteBytes > 0)
        }
        let client = try server.connect()
        #expect(server.wait { client.received.count == 20_000_000 })
        #expect(server.wait { drained == 1 })
    }

    @Test func `a peer that has closed its sending end still gets its answer`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        server.prepare = { stream in
            stream.onPeerFinished = { [unowned stream] in
                stream.write([UInt8](repeating: 9, count: 2_000_000))
                stream.closeAfterFlush()
            }
        }
        let client = try server.connect()
        client.stream.write([1])
        #expect(server.wait { client.isOpen })
        let number = try #require(descriptors(connectedTo: server.address).first)
        shutdown(number, Int32(SHUT_WR))
        #expect(server.wait { client.closure != nil })
        #expect(client.received.count == 2_000_000)
    }

    @Test func `nobody listens: the failure is told`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        let address = server.address
        server.listener = nil
        let client = Client(try TCPStream(loop: loop, connectingTo: address))
        #expect(loop.run(until: { client.closure != nil }, within: .seconds(20)))
        #expect(client.closure == .connectFailed(ECONNREFUSED))
    }

    @Test func `plain and TLS share a port, told apart by the first byte, behind a proxy's header`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        let material = try TestTLS.material()
        server.prepare = { stream in
            var isFirst = true
            stream.onBytes = { [unowned stream] bytes in
                if isFirst, bytes[0] == 0x50 {  // "P": a header of three bytes
                    return bytes.count >= 3 ? 3 : 0
                }
                if isFirst, bytes[0] == 0x16 {
                    isFirst = false
                    stream.startTLS(material.server)
                    return 0
                }
                isFirst = false
                stream.write(bytes)
                return bytes.count
            }
        }
        let plain = try server.connect()
        plain.stream.write(Array("PXYhello".utf8))
        let secure = try server.connect(tls: material.client)
        secure.stream.write(Array("hello".utf8))
        #expect(server.wait { plain.received.count == 5 && secure.received.count == 5 })
        #expect(server.accepted.map(\.isTLS).filter { $0 }.count == 1)
    }

    @Test func `an accepted connection may go to another loop`() throws {
        let loop = try EventLoop()
        let echoed = Lock(0)
        let doors = Lock<MailboxSender<AcceptedConnection?>?>(nil)
        let ready = try Mailbox<Int>(loop: loop) { _ in }
        let readySender = ready.sender
        let worker = try WorkerThread.start(name: "other") {
            do {
                let loop = try EventLoop()
                var streams: [TCPStream] = []
                let box = try Mailbox<AcceptedConnection?>(loop: loop) { connection in
                    guard let connection else { return loop.stop() }
                    let stream = TCPStream(loop: loop, accepted: connection)
                    stream.onBytes = { [unowned stream] bytes in
                        echoed.withLock { $0 += bytes.count }
                        stream.write(bytes)
                        return bytes.count
                    }
                    streams.append(stream)
                }
                doors.withLock { $0 = box.sender }
                readySender.send(1)
                loop.run()
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(loop.run(until: { doors.withLock { $0 } != nil }, within: .seconds(20)))
        let door = try #require(doors.withLock { $0 })
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { door.send($0) }
        let client = Client(try TCPStream(loop: loop, connectingTo: listener.localAddress))
        client.stream.write([1, 2, 3])
        #expect(loop.run(until: { client.received == [1, 2, 3] }, within: .seconds(20)))
        door.send(nil)
        worker.join()
        #expect(echoed.withLock { $0 } == 3)
    }

    /// Descriptors of this process whose peer has that address.
    private func descriptors(connectedTo address: SocketAddress) -> [CInt] {
        (0..<CInt(1_024)).filter { number in
            var storage = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &length) }
            }
            return status == 0 && storage.sin_family == AF_INET && UInt16(bigEndian: storage.sin_port) == address.port
        }
    }
}
