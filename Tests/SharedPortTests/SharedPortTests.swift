import EventLoop
import GatewayMetrics
import HTTP
import HTTPServer
import OpenSSL
import Sockets
import Testing
import Wire

@testable import SharedPort

@Suite("Shared port", .timeLimit(.minutes(10)))
struct SharedPortTests {
    @Test func `HTTP over TLS is served though its first bytes were looked at`() throws {
        let bench = try Bench()
        let client = try bench.connect(tls: true)
        client.write(Array("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
        #expect(bench.wait { client.isClosed })
        #expect(client.text.contains("seen /a\n") && client.text.contains("seen /b\n"), "\(client.text)")
        #expect(try bench.count("stagedoor_shared_connections_total{kind=\"https\"}") == 1)
        #expect(bench.port.waitingCount == 0 && bench.admission.count == 0)
    }

    @Test func `a request that comes byte by byte is served`() throws {
        let bench = try Bench()
        let client = try bench.connect(tls: true)
        #expect(bench.wait { client.isOpen })
        for byte in "GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8 {
            client.write([byte])
            bench.turn()
        }
        #expect(bench.wait { client.isClosed })
        #expect(client.text.contains("seen /slow\n"), "\(client.text)")
    }

    @Test func `RTMPS and ICE are handed on with every byte that came`() throws {
        let bench = try Bench()
        let encoder = try bench.connect(tls: true)
        encoder.write([3] + [UInt8](repeating: 7, count: 1_536))
        #expect(bench.wait { bench.bytes[.rtmps]?.count == 1_537 })
        #expect(bench.bytes[.rtmps]?.first == 3)
        let peer = try bench.connect()
        for byte in FirstBytesTests.check {
            peer.write([byte])
            bench.turn()
        }
        peer.write([1, 2, 3])
        #expect(bench.wait { bench.bytes[.ice] == FirstBytesTests.check + [1, 2, 3] })
        #expect(bench.streams.map(\.isTLS) == [true, false])
    }

    @Test func `a balancer's header names the peer of whoever is behind it`() throws {
        let bench = try Bench(trusted: true)
        let peer = try bench.connect()
        let header: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 12]
        peer.write(header + [203, 0, 113, 9, 127, 0, 0, 1, 0x9C, 0x40, 0x01, 0xBB] + FirstBytesTests.check)
        #expect(bench.wait { bench.streams.first?.remoteAddress == SocketAddress("203.0.113.9:40000") })
        #expect(bench.bytes[.ice] == FirstBytesTests.check, "without the header")
    }

    @Test func `what is nobody's is closed and counted`() throws {
        let bench = try Bench()
        let plain = try bench.connect()
        plain.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        let inside = try bench.connect(tls: true)
        inside.write([0, 1, 2])
        #expect(bench.wait { plain.isClosed && inside.isClosed })
        #expect(try bench.count("stagedoor_shared_closed_total{reason=\"unknown\"}") == 2)
        let broken = try bench.connect()
        broken.write([0x16, 3, 1, 0, 4, 1, 0, 0, 0])
        #expect(bench.wait { broken.isClosed })
        #expect(try bench.count("stagedoor_shared_closed_total{reason=\"tls\"}") == 1)
        #expect(bench.port.waitingCount == 0 && bench.admission.count == 0 && plain.text.isEmpty)
    }

    @Test func `a kind that nobody serves is closed`() throws {
        let bench = try Bench()
        bench.port.servers[.ice] = nil
        let peer = try bench.connect()
        peer.write(FirstBytesTests.check)
        #expect(bench.wait { peer.isClosed })
        #expect(bench.streams.isEmpty)
    }

    @Test func `who says nothing goes when his time is over, and the oldest when too many wait`() throws {
        let bench = try Bench(maximumCount: 2, patience: .seconds(600))
        let silent = try (0..<3).map { index in
            let client = try bench.connect()
            #expect(bench.wait { bench.accepted == index + 1 })
            return client
        }
        #expect(bench.wait { silent[0].isClosed })
        #expect(!silent[1].isClosed && !silent[2].isClosed && bench.admission.count == 2)
        #expect(try bench.count("stagedoor_shared_closed_total{reason=\"displaced\"}") == 1)
        bench.port.stop()
        #expect(bench.wait { silent.allSatisfy(\.isClosed) })
        let hasty = try Bench(patience: .seconds(1))
        let others = try [hasty.connect(), hasty.connect()]
        #expect(hasty.wait { others.allSatisfy(\.isClosed) })
        #expect(hasty.admission.count == 0)
        #expect(try hasty.count("stagedoor_shared_closed_total{reason=\"silent\"}") == 2)
    }

    @Test func `one address has its share of those that wait`() throws {
        let bench = try Bench(maximumPerAddress: 2)
        let clients = try (0..<3).map { _ in try bench.connect() }
        #expect(bench.wait { clients.contains(where: \.isClosed) })
        #expect(clients.count(where: \.isClosed) == 1 && bench.port.waitingCount == 2)
        #expect(try bench.count("stagedoor_shared_closed_total{reason=\"refused\"}") == 1)
        bench.port.stop()
        #expect(bench.wait { clients.allSatisfy(\.isClosed) })
        #expect(bench.admission.count == 0)
    }

    @Test func `balancers that do not say for whom they speak are bounded too`() throws {
        let bench = try Bench(trusted: true, maximumUnnamed: 2)
        let clients = try (0..<3).map { _ in try bench.connect() }
        #expect(bench.wait { clients.contains(where: \.isClosed) })
        #expect(clients.count(where: \.isClosed) == 1 && bench.port.waitingCount == 2 && bench.admission.count == 0)
        bench.port.stop()
        #expect(bench.wait { clients.allSatisfy(\.isClosed) })
    }

    @Test func `a new certificate is shown to whoever comes then`() throws {
        let (bench, other) = (try Bench(), try Bench.Material())
        bench.port.tls = other.server
        let former = try bench.connect(tls: true)
        #expect(bench.wait { former.isClosed }, "it trusts the authority before")
        let client = try TCPStream(loop: bench.loop, connectingTo: bench.address, tls: other.client, serverName: "localhost")
        var isOpen = false
        client.onOpen = { isOpen = true }
        #expect(bench.wait { isOpen })
    }
}
