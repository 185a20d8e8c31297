import Glibc
import Testing
import Wire

@testable import EventLoop
@testable import Sockets

@Suite("Bound sockets")
struct BoundSocketTests {
    static let loopback = SocketAddress(.loopback, port: 0)

    @Test func `a group of listeners shares a port that nobody else gets`() throws {
        let group = try BoundSocket.group(.tcp, Self.loopback, count: 3)
        let address = group[0].localAddress
        let loop = try EventLoop()
        let listeners = try group.map { try TCPListener(loop: loop, socket: $0) { _ in } }
        #expect(listeners.allSatisfy { $0.localAddress == address })
        let error = #expect(throws: SystemError.self) { try BoundSocket.group(.tcp, address, count: 3) }
        #expect(error?.code == EADDRINUSE)
        #expect(PortHolder.describe(.tcp, port: address.port)?.contains("(pid \(getpid()))") == true)
        withExtendedLifetime(listeners) {}
    }

    @Test func `listeners that refuse connections leave their port to others, and may listen again`() throws {
        let group = try BoundSocket.group(.tcp, Self.loopback, count: 2)
        let address = group[0].localAddress
        let loop = try EventLoop()
        var accepted = 0
        let listeners = try group.map { try TCPListener(loop: loop, socket: $0) { _ in accepted += 1 } }
        for listener in listeners { listener.suspend() }
        // As another process does, with duplicates.
        for socket in group { try socket.descriptor.duplicate().refuseConnections() }
        let refused = Client(try TCPStream(loop: loop, connectingTo: address))
        #expect(loop.run(until: { refused.closure != nil }, within: .seconds(120)))
        #expect(refused.closure == .connectFailed(ECONNREFUSED))
        #expect(try BoundSocket.group(.tcp, address, count: 2).count == 2)
        for listener in listeners { listener.resume() }
        let served = Client(try TCPStream(loop: loop, connectingTo: address))
        #expect(loop.run(until: { accepted == 1 }, within: .seconds(120)))
        withExtendedLifetime(served) {}
    }

    @Test func `a listener that refused connections takes back a port that the kernel chose, or tells that it is taken`() throws {
        let loop = try EventLoop()
        let socket = try BoundSocket(.tcp, Self.loopback)
        var (accepted, faults) = (0, [CInt]())
        let listener = try TCPListener(loop: loop, socket: socket) { _ in accepted += 1 }
        listener.onExhausted = { faults.append($0) }
        listener.suspend()
        try socket.descriptor.duplicate().refuseConnections()
        var other: TCPListener? = try TCPListener(loop: loop, address: socket.localAddress) { _ in }
        listener.resume()
        #expect(faults == [EADDRINUSE] && other != nil)
        other = nil
        listener.resume()
        let client = Client(try TCPStream(loop: loop, connectingTo: socket.localAddress))
        #expect(loop.run(until: { accepted == 1 }, within: .seconds(120)))
        #expect(faults == [EADDRINUSE])
        withExtendedLifetime((listener, client)) {}
    }

    @Test func `the holder of a UDP port is found, and nobody for a free one`() throws {
        var socket: BoundSocket? = try BoundSocket(.udp, Self.loopback)
        let port = try #require(socket?.localAddress.port)
        #expect(PortHolder.describe(.udp, port: port)?.contains("(pid \(getpid()))") == true)
        socket = nil
        #expect(PortHolder.describe(.udp, port: port) == nil)
    }

    @Test func `the kernel's table is read by its columns`() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:078F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000 100 0 0 10 0
               1: 0100007F:078F 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000 20 4 30 10 -1
               2: broken
            """
        #expect(PortHolder.inodes(inTable: table, boundTo: 1_935, isListening: true) == ["socket:[4711]"])
        #expect(PortHolder.inodes(inTable: table, boundTo: 1_935, isListening: false) == ["socket:[4711]", "socket:[4712]"])
    }
}
