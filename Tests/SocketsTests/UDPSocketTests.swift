import EventLoop
import Glibc
import Sockets
import Testing
import Wire

@Suite("UDP sockets", .timeLimit(.minutes(10)))
struct UDPSocketTests {
    static let loopback = SocketAddress(.loopback, port: 0)

    /// Two sockets on one loop; what the second receives is collected.
    final class Pair {
        let loop: EventLoop
        let sender: UDPSocket
        let receiver: UDPSocket
        var received: [[UInt8]] = []

        init() throws {
            loop = try EventLoop()
            sender = try UDPSocket(loop: loop, address: UDPSocketTests.loopback)
            receiver = try UDPSocket(loop: loop, address: UDPSocketTests.loopback)
            receiver.onDatagrams = { [unowned self] batch in received += batch.map { [UInt8]($0.payload) } }
        }

        func wait(for count: Int) -> Bool { loop.run(until: { received.count >= count }, within: .seconds(120)) }
    }

    @Test func `a datagram arrives whole, with its source and our address, and can be answered`() throws {
        let pair = try Pair()
        var answers: [[UInt8]] = []
        pair.sender.onDatagrams = { answers += $0.map { [UInt8]($0.payload) } }
        pair.receiver.onDatagrams = { [unowned pair] batch in
            for datagram in batch {
                #expect(datagram.source == pair.sender.localAddress)
                #expect(datagram.local == .loopback)
                datagram.payload[0] += 1
                pair.receiver.send(UnsafeRawBufferPointer(datagram.payload), to: datagram.source, from: datagram.local)
            }
        }
        #expect(pair.sender.send([1, 2, 3], to: pair.receiver.localAddress) == .sent)
        #expect(pair.loop.run(until: { answers == [[2, 2, 3]] }, within: .seconds(120)))
    }

    @Test func `an empty datagram and one of 2,048 bytes arrive`() throws {
        let pair = try Pair()
        let long = (0..<2_048).map { UInt8(truncatingIfNeeded: $0) }
        pair.sender.send([], to: pair.receiver.localAddress)
        pair.sender.send(long, to: pair.receiver.localAddress)
        #expect(pair.wait(for: 2))
        #expect(pair.received == [[], long])
    }

    @Test(arguments: [1, 2, 53, 54, 55, 200])
    func `a run arrives as datagrams, whatever its pieces`(count: Int) throws {
        let pair = try Pair()
        // Each datagram is a 12-byte header and a payload; the last one is short.
        let headers = (0..<count).map { index in [UInt8](repeating: UInt8(index), count: 12) }
        let bodies = (0..<count).map { index in [UInt8](repeating: 0xA0, count: index == count - 1 ? 100 : 1_188) }
        let parts = zip(headers, bodies).flatMap { [$0, $1, []] }
        let outcome = withPieces(parts) { pair.sender.sendRun($0, segmentSize: 1_200, to: pair.receiver.localAddress) }
        #expect(outcome == RunOutcome(count: count, outcome: .sent))
        #expect(pair.wait(for: count))
        #expect(pair.received == zip(headers, bodies).map { $0 + $1 })
        #expect(pair.sender.counters.sent == count)
    }

    @Test func `a run of datagrams too long for every path goes one by one`() throws {
        let pair = try Pair()
        let packets = (0..<3).map { [UInt8](repeating: UInt8($0), count: 1_470) }
        let outcome = withPieces(packets) { pair.sender.sendRun($0, segmentSize: 1_470, to: pair.receiver.localAddress) }
        #expect(outcome.count == 3)
        #expect(pair.wait(for: 3))
        #expect(pair.received == packets)
    }

    @Test func `room in the send buffer is told once for each question`() throws {
        let pair = try Pair()
        var writable = 0
        pair.sender.onWritable = { writable += 1 }
        pair.sender.awaitWritable()
        #expect(pair.loop.run(until: { writable == 1 }, within: .seconds(120)))
        pair.sender.awaitWritable()
        #expect(pair.loop.run(until: { writable == 2 }, within: .seconds(120)))
    }

    @Test func `datagrams that the kernel refuses are told, each one`() throws {
        let pair = try Pair()
        var refused = 0
        pair.sender.onRefusal = { refused += $0 }
        let elsewhere = SocketAddress(.v6(high: 0, low: 1, scope: 0), port: 9)
        #expect(pair.sender.send([1], to: elsewhere) == .failed(EAFNOSUPPORT))
        let run = withPieces([[1], [2], [3]]) { pair.sender.sendRun($0, segmentSize: 1, to: elsewhere) }
        #expect(run == RunOutcome(count: 3, outcome: .failed(EAFNOSUPPORT)))
        #expect(refused == 4)
    }

    @Test func `IPv4 peers of a dual-stack socket are IPv4, and are answered from the address they asked`() throws {
        let loop = try EventLoop()
        let server = try UDPSocket(loop: loop, address: SocketAddress(.anyV6, port: 0))
        let other = IPAddress.v4(0x7F00_0002)
        let client = try UDPSocket(loop: loop, address: Self.loopback)
        var answer: SocketAddress?
        server.onDatagrams = { [unowned server] batch in
            for datagram in batch {
                #expect(datagram.source == client.localAddress)
                #expect(datagram.local == other)
                server.send(UnsafeRawBufferPointer(datagram.payload), to: datagram.source, from: datagram.local)
            }
        }
        client.onDatagrams = { answer = $0.first?.source }
        client.send([1], to: SocketAddress(other, port: server.localAddress.port))
        #expect(loop.run(until: { answer != nil }, within: .seconds(120)))
        #expect(answer == SocketAddress(other, port: server.localAddress.port))
    }

    @Test func `as much is buffered as was asked for`() throws {
        let socket = UDPSocket(
            loop: try EventLoop(), socket: try BoundSocket(.udp, Self.loopback), receiveBuffer: 64 << 10)
        #expect(socket.grantedReceiveBufferBytes == 128 << 10, "the kernel counts twice the payload")
    }

    @Test func `a group shares its port, keeps each peer on one member, and lets nobody join`() throws {
        let loop = try EventLoop()
        let group = try BoundSocket.group(.udp, Self.loopback, count: 4)
        let address = group[0].localAddress
        #expect(Set(group.map(\.localAddress)) == [address])
        #expect(throws: SystemError.self) { try BoundSocket.group(.udp, address, count: 2) }
        #expect(throws: SystemError.self) { try BoundSocket(.udp, address) }

        var members: [SocketAddress: Set<Int>] = [:]
        var count = 0
        let servers = group.enumerated().map { index, socket in
            let server = UDPSocket(loop: loop, socket: socket)
            server.onDatagrams = { batch in
                for datagram in batch { members[datagram.source, default: []].insert(index) }
                count += batch.count
            }
            return server
        }
        let clients = try (0..<50).map { _ in try UDPSocket(loop: loop, address: Self.loopback) }
        for _ in 0..<4 { clients.forEach { $0.send([1], to: address) } }
        #expect(loop.run(until: { count == 200 }, within: .seconds(120)))
        #expect(members.values.allSatisfy { $0.count == 1 })
        #expect(Set(members.values).count > 1)
        #expect(servers.count == 4)
    }

    @Test func `datagrams that the kernel drops are counted`() throws {
        let pair = try Pair()
        let capacity = pair.receiver.grantedReceiveBufferBytes
        #expect(capacity > 0)
        let payload = [UInt8](repeating: 0, count: 2_000)
        let sent = 2 * capacity / payload.count
        for _ in 0..<sent { pair.sender.send(payload, to: pair.receiver.localAddress) }
        // The kernel tells of a drop with the next datagram that it has room for.
        var further = 0
        let probe = pair.loop.schedule(after: .zero, repeating: .milliseconds(5)) {
            pair.sender.send(payload, to: pair.receiver.localAddress)
            further += 1
        }
        #expect(
            pair.loop.run(
                until: {
                    let dropped = pair.receiver.counters.droppedByKernel
                    return dropped > 0 && pair.received.count + dropped == sent + further
                }, within: .seconds(120)))
        probe.cancel()
    }

    @Test func `what the kernel dropped before a socket was taken over is counted once`() throws {
        let loop = try EventLoop()
        let socket = try BoundSocket(.udp, Self.loopback)
        let sender = try UDPSocket(loop: loop, address: Self.loopback)
        let payload = [UInt8](repeating: 0, count: 2_000)
        let former = UDPSocket(loop: loop, socket: socket, receiveBuffer: 64 << 10)
        let tooMany = 2 * former.grantedReceiveBufferBytes / payload.count
        for _ in 0..<tooMany { sender.send(payload, to: socket.localAddress) }
        let probe = loop.schedule(after: .zero, repeating: .milliseconds(5)) { sender.send([1], to: socket.localAddress) }
        #expect(loop.run(until: { former.counters.droppedByKernel > 0 }, within: .seconds(120)))
        probe.cancel()
        former.stopReceiving()
        // Those that have room tell of fewer drops than there are when the next one has the socket.
        for _ in 0..<tooMany { sender.send(payload, to: socket.localAddress) }

        let latter = UDPSocket(loop: loop, socket: socket, receiveBuffer: 64 << 10)
        var isLastHere = false
        latter.onDatagrams = { batch in
            if batch.contains(where: { $0.payload.count == 2 }) { isLastHere = true }
        }
        let last = loop.schedule(after: .zero, repeating: .milliseconds(5)) { sender.send([1, 2], to: socket.localAddress) }
        #expect(loop.run(until: { isLastHere }, within: .seconds(120)))
        last.cancel()
        let received = former.counters.received + latter.counters.received
        let dropped = former.counters.droppedByKernel + latter.counters.droppedByKernel
        #expect(received + dropped <= sender.counters.sent)
    }

    /// Lends arrays as pieces of memory.
    private func withPieces<Result>(_ parts: [[UInt8]], _ body: ([UnsafeRawBufferPointer]) -> Result) -> Result {
        let whole = parts.flatMap { $0 }
        return whole.withUnsafeBytes { bytes in
            var start = 0
            return body(
                parts.map { part in
                    defer { start += part.count }
                    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + part.count])
                })
        }
    }
}
