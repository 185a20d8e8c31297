import EventLoop
import Glibc
import Sockets
import Testing
import Wire

@Suite("TCP listener", .timeLimit(.minutes(10)))
struct TCPListenerTests {
    @Test func `what it accepts sends at once and finds out that a peer is gone`() throws {
        let loop = try EventLoop()
        var accepted: AcceptedConnection?
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { accepted = $0 }
        let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
        #expect(loop.run(until: { accepted != nil }, within: .seconds(120)))
        let descriptor = try #require(accepted).descriptor.number
        #expect(option(TCP_NODELAY, IPPROTO_TCP, of: descriptor) == 1)
        #expect(option(SO_KEEPALIVE, SOL_SOCKET, of: descriptor) == 1)
        #expect(option(TCP_KEEPIDLE, IPPROTO_TCP, of: descriptor) == 30)
        #expect(option(TCP_KEEPINTVL, IPPROTO_TCP, of: descriptor) == 10)
        #expect(option(TCP_KEEPCNT, IPPROTO_TCP, of: descriptor) == 3)
        #expect(option(TCP_USER_TIMEOUT, IPPROTO_TCP, of: descriptor) == 20_000)
        client.close()
    }

    private func option(_ name: CInt, _ level: some BinaryInteger, of descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, CInt(level), name, &value, &size) == 0 ? value : nil
    }
}
