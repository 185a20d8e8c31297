import Glibc
import OpenSSL
import TestSupport
import Testing
import Wire

@Suite("TLS connections")
struct TLSConnectionTests {
    static let authority = try? Identity.makeAuthority(commonName: "Test CA", now: now, validFor: .seconds(86_400))
    static let now = WallTime(secondsSince1970: Int64(time(nil)))

    static func server(dnsNames: [String] = ["localhost"], validFor: Duration = .seconds(3_600)) throws -> TLSContext {
        let authority = try #require(authority)
        return try TLSContext(
            server: authority.issue(
                commonName: "server", dnsNames: dnsNames, addresses: [.loopback], now: now, validFor: validFor))
    }

    /// Two ends in memory, whose ciphertext travels in pieces.
    final class Link {
        let client: TLSConnection
        let server: TLSConnection
        var clientReceived: [UInt8] = []
        var serverReceived: [UInt8] = []
        var isClosedAtServer = false

        init(client: TLSContext, server: TLSContext, name: String) throws {
            self.client = try TLSConnection(client, serverName: name)
            self.server = try TLSConnection(server)
        }

        /// Carries everything both ways until nothing moves.
        func run(pieceSize: Int = .max) throws {
            try step(client, [], received: &clientReceived)
            while client.hasOutgoing || server.hasOutgoing {
                for piece in ByteFeeder.pieces(of: client.takeOutgoing(), size: min(pieceSize, 1 << 20)) {
                    try step(server, piece, received: &serverReceived)
                }
                for piece in ByteFeeder.pieces(of: server.takeOutgoing(), size: min(pieceSize, 1 << 20)) {
                    try step(client, piece, received: &clientReceived)
                }
            }
        }

        private func step(_ end: TLSConnection, _ ciphertext: [UInt8], received: inout [UInt8]) throws {
            var plaintext = [UInt8](repeating: 0, count: 16_384)
            try ciphertext.withUnsafeBytes { ciphertext in
                end.receive(ciphertext)
                while true {
                    switch try plaintext.withUnsafeMutableBytes({ try end.advance(into: $0) }) {
                    case .needsMore: return
                    case .handshakeCompleted: continue
                    case .plaintext(let count): received += plaintext[..<count]
                    case .closedByPeer:
                        isClosedAtServer = true
                        return
                    }
                }
            }
        }

        func write(_ bytes: [UInt8], to end: TLSConnection) throws { try bytes.withUnsafeBytes { try end.write($0) } }
    }

    static func trusting() throws -> TLSContext { try TLSContext(clientTrusting: [try #require(authority).certificate]) }

    @Test(arguments: ["one.example", "live.two.example", "LIVE.two.example", "other.example"])
    func `the certificate follows the name that the client asks for`(name: String) throws {
        let authority = try #require(Self.authority)
        func identity(_ name: String, _ dnsName: String) throws -> Identity {
            try authority.issue(
                commonName: name, dnsNames: [dnsName], addresses: [], now: Self.now, validFor: .seconds(3_600))
        }
        let server = try TLSContext(
            server: identity("fallback", "other.example"),
            named: [identity("one", "one.example"), identity("two", "*.two.example")])
        // The client verifies the name: only the right certificate lets it through.
        let link = try Link(client: Self.trusting(), server: server, name: name)
        try link.run()
        #expect(link.client.isHandshakeCompleted)
    }

    @Test func `without a name, or with one that nobody carries, the first certificate is shown`() throws {
        let authority = try #require(Self.authority)
        let other = try authority.issue(
            commonName: "other", dnsNames: ["other.example"], addresses: [], now: Self.now, validFor: .seconds(3_600))
        let own = try authority.issue(
            commonName: "own", dnsNames: ["localhost"], addresses: [.loopback], now: Self.now, validFor: .seconds(3_600))
        let link = try Link(client: Self.trusting(), server: TLSContext(server: own, named: [other]), name: "127.0.0.1")
        try link.run()
        #expect(link.client.isHandshakeCompleted)
    }

    @Test(arguments: [1, 7, 1_000, .max])
    func `bytes go both ways, however the ciphertext is cut`(pieceSize: Int) throws {
        let link = try Link(client: Self.trusting(), server: Self.server(), name: "localhost")
        try link.run(pieceSize: pieceSize)
        #expect(link.client.isHandshakeCompleted && link.server.isHandshakeCompleted)
        #expect(link.server.version == "TLSv1.3")
        let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try link.write(long, to: link.client)
        try link.write([1, 2, 3], to: link.server)
        try link.run(pieceSize: pieceSize)
        #expect(link.serverReceived == long)
        #expect(link.clientReceived == [1, 2, 3])
        link.client.close()
        try link.run(pieceSize: pieceSize)
        #expect(link.isClosedAtServer)
    }

    @Test func `a certificate is good for its address too`() throws {
        let link = try Link(client: Self.trusting(), server: Self.server(), name: "127.0.0.1")
        try link.run()
        #expect(link.server.isHandshakeCompleted)
    }

    @Test(arguments: ["example.com", "127.0.0.2"])
    func `a client refuses a certificate of another name`(name: String) throws {
        let link = try Link(client: Self.trusting(), server: Self.server(), name: name)
        #expect(throws: OpenSSLError.self) { try link.run() }
        #expect(!link.client.isHandshakeCompleted)
        #expect(link.client.hasOutgoing, "the alert is still to be sent")
    }

    @Test func `a client refuses an authority it does not know, and says so in words`() throws {
        let link = try Link(client: TLSContext(clientTrusting: []), server: Self.server(), name: "localhost")
        let error = #expect(throws: OpenSSLError.self) { try link.run() }
        #expect(error?.reason == "certificate verify failed")
    }

    @Test func `a client refuses an expired certificate`() throws {
        let link = try Link(
            client: Self.trusting(), server: Self.server(validFor: .seconds(-10)), name: "localhost")
        #expect(throws: OpenSSLError.self) { try link.run() }
    }

    @Test func `garbage in place of a ClientHello is refused with an alert`() throws {
        let server = try TLSConnection(Self.server())
        var plaintext = [UInt8](repeating: 0, count: 100)
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        #expect(throws: OpenSSLError.self) {
            try request.withUnsafeBytes { request in
                server.receive(request)
                _ = try plaintext.withUnsafeMutableBytes { try server.advance(into: $0) }
            }
        }
    }

    @Test func `random bytes after a good start never crash`() throws {
        var generator = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let client = try TLSConnection(Self.trusting(), serverName: "localhost")
            let server = try TLSConnection(Self.server(dnsNames: []))
            var plaintext = [UInt8](repeating: 0, count: 1_000)
            _ = try plaintext.withUnsafeMutableBytes { try client.advance(into: $0) }
            var hello = client.takeOutgoing()
            for _ in 0..<3 { hello[Int(generator.next() % UInt64(hello.count))] = UInt8(truncatingIfNeeded: generator.next()) }
            hello.withUnsafeBytes { hello in
                server.receive(hello)
                _ = plaintext.withUnsafeMutableBytes { try? server.advance(into: $0) }
            }
        }
    }
}
