import EventLoop
import OpenSSL
import Testing
import Wire

@testable import Sockets

@Suite("TLS of a stream", .timeLimit(.minutes(10)))
struct StreamTLSTests {
    @Test func `what is written before the handshake is done waits for it`() throws {
        let loop = try EventLoop()
        let material = try TestTLS.material()
        let client = try StreamTLS(material.client, serverName: "localhost")
        let server = try StreamTLS(material.server, serverName: nil)
        let words = Array("hello".utf8)
        try words.withUnsafeBytes { try client.write($0) }
        #expect(client.waitingByteCount == 5 && client.takeOutgoing() == nil)
        client.beginHandshake(on: loop, with: .loopback) {}
        server.beginHandshake(on: loop, with: .loopback) {}
        #expect(client.hasNextStep && !server.hasNextStep)

        var received: [UInt8] = []
        var (taker, other) = (client, server)
        var flight: [UInt8]? = []
        while let bytes = flight {
            received += try take(bytes, by: taker)
            flight = taker.takeOutgoing()
            swap(&taker, &other)
        }
        #expect(received == words)
        #expect(client.isEstablished && server.isEstablished && client.waitingByteCount == 0)
    }

    /// Gives one side what the other has sent.
    /// - Returns: the plaintext of it.
    private func take(_ flight: [UInt8], by tls: StreamTLS) throws -> [UInt8] {
        var room = [UInt8](repeating: 0, count: 65_536)
        var plaintext: [UInt8] = []
        try flight.withUnsafeBytes { bytes in
            tls.receive(bytes)
            while true {
                switch try room.withUnsafeMutableBytes({ try tls.advance(into: $0) }) {
                case .needsMore, .closedByPeer: return
                case .handshakeCompleted: try tls.takeWaiting().withUnsafeBytes { try tls.write($0) }
                case .plaintext(let count): plaintext += room[..<count]
                }
            }
        }
        return plaintext
    }
}
