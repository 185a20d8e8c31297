import EventLoop
import Glibc
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("TCP streams: limits, ends and hand-overs", .timeLimit(.minutes(10)), .serialized)
struct TCPStreamLimitsTests {
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

    @Test func `what the peer has not acknowledged waits, also where the kernel has it`() throws {
        let server = try Server(loop: try EventLoop())
        server.prepare = { stream in
            stream.maximumPendingWriteBytes = 32 << 20
            stream.write([UInt8](repeating: 7, count: 20_000_000))
        }
        let client = try server.connect()
        client.stream.pauseReading()
        try #require(server.wait { !server.accepted.isEmpty })
        let stream = server.accepted[0]
        #expect(stream.pendingWriteBytes > 0 && stream.unacknowledgedBytes > stream.pendingWriteBytes)
        client.stream.resumeReading()
        // No event tells of the last acknowledgement.
        let ticks = server.loop.schedule(after: .zero, repeating: .milliseconds(5)) {}
        #expect(server.wait { client.received.count == 20_000_000 && stream.unacknowledgedBytes == 0 })
        ticks.cancel()
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

    @Test func `a stream that closes gives its peer as long as was said to take what waits`() throws {
        let server = try Server(loop: try EventLoop())
        var limits: [Duration] = [.milliseconds(50), .seconds(600)]
        server.prepare = { stream in
            stream.maximumPendingWriteBytes = 32 << 20
            stream.write([UInt8](repeating: 0, count: 20_000_000))
            stream.closeAfterFlush(within: limits.removeFirst())
        }
        let clients = try (0..<2).map { _ in
            let client = try server.connect()
            client.stream.onOpen = { [unowned stream = client.stream] in stream.pauseReading() }
            return client
        }
        #expect(server.wait { server.accepted.count == 2 && server.accepted[0].isClosed })
        #expect(server.closures == [.flushed] && !server.accepted[1].isClosed)
        server.accepted[1].close()  // it would wait without its owner
        withExtendedLifetime(clients) {}
    }

    @Test func `nobody listens: the failure is told`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        let address = server.address
        server.listener = nil
        let client = Client(try TCPStream(loop: loop, connectingTo: address))
        #expect(loop.run(until: { client.closure != nil }, within: .seconds(120)))
        #expect(client.closure == .connectFailed(ECONNREFUSED))
        #expect(client.closure?.description == "cannot connect: Connection refused")
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
        #expect(loop.run(until: { doors.withLock { $0 } != nil }, within: .seconds(120)))
        let door = try #require(doors.withLock { $0 })
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { door.send($0) }
        let client = Client(try TCPStream(loop: loop, connectingTo: listener.localAddress))
        client.stream.write([1, 2, 3])
        #expect(loop.run(until: { client.received == [1, 2, 3] }, within: .seconds(120)))
        door.send(nil)
        worker.join()
        #expect(echoed.withLock { $0 } == 3)
    }

    /// Descriptors of this process whose peer has that address.
    private func descriptors(connectedTo address: SocketAddress) -> [CInt] {
        (0..<CInt(16_384)).filter { number in
            var storage = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &length) }
            }
            return status == 0 && storage.sin_family == AF_INET && UInt16(bigEndian: storage.sin_port) == address.port
        }
    }
}
