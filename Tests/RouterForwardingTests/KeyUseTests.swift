import EventLoop
import JSON
import RTCP
import RTP
import Refusals
import SDP
import SRTP
import Sockets
import StageHub
import Testing
import Wire

@testable import RouterForwarding

/// Two routers in one that take SRTP, ask for everything again, and remember every datagram with the key it was sent under.
private final class ProtectedRouters: RouterHTTP {
    /// One announce that was answered.
    final class Announce {
        let router: String
        let key: String
        let ssrcs: Set<UInt32>
        var datagrams: [(ssrc: UInt32, sequenceNumber: UInt16, bytes: [UInt8])] = []
        let socket: UDPSocket
        private let feedback: LegProtection

        init(_ router: String, _ offer: SessionDescription, feedback keys: SRTPKeys, loop: EventLoop) throws {
            self.router = router
            key = try #require(offer.media[0].attributes.first(CryptoAttribute.self)).inlineKey.revealText()
            ssrcs = Set(offer.media.compactMap { $0.attributes.first(Source.self)?.ssrc })
            feedback = try LegProtection(keys, feedback: nil)
            socket = try UDPSocket(loop: loop, address: SocketAddress(.loopback, port: 0))
            socket.onDatagrams = { [unowned self] batch in for datagram in batch { receive(datagram) } }
        }

        private func receive(_ datagram: Datagram) {
            let bytes = Array(datagram.payload)
            guard !RTCPCompound.isRTCP(secondByte: bytes[1]), let header = try? RTPHeader(parsing: bytes.span.bytes) else {
                return
            }
            datagrams.append((header.ssrc, header.sequenceNumber, bytes))
            guard datagrams.count % 3 == 0 else { return }
            var writer = ByteWriter()
            GenericNACK(
                senderSSRC: 1, mediaSSRC: header.ssrc,
                sequenceNumbers: (0..<6).map { header.sequenceNumber &- 5 &+ $0 }
            ).write(into: &writer)
            if let nack = feedback.protect(control: writer.bytes) { socket.send(nack, to: datagram.source) }
        }
    }

    var loop: EventLoop?
    var announces: [Announce] = []
    var dead: Set<String> = []

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        let router = request.url.contains(":1/") ? "r1" : "r2"
        guard !dead.contains(router) else { return reply(nil) }
        switch request.method {
        case "POST": reply(try? answer(request, as: router))
        case "PUT": reply(RouterResponse(status: 200, body: Array(#"{"bootId":"b"}"#.utf8)))
        default: reply(RouterResponse(status: 204))
        }
    }

    private func answer(_ request: RouterRequest, as router: String) throws -> RouterResponse {
        let sdp = try #require(JSONValue(parsing: request.body)["sdp"]?.string)
        let keys = SRTPKeys.random(.aeadAES128GCM)
        let offer = try SessionDescription(parsing: Array(sdp.utf8))
        let announce = try Announce(router, offer, feedback: keys, loop: try #require(loop))
        announces.append(announce)
        let media = offer.media.map { media in
            "m=\(media.media) \(announce.socket.localAddress.port) RTP/SAVPF \(media.formats[0])\r\na=recvonly\r\na=rtcp-mux\r\n"
                + "a=rtcp-fb:\(media.formats[0]) nack\r\n"
                + "a=crypto:1 \(keys.crypto.suite) inline:\(keys.crypto.inlineKey.revealText())\r\n"
        }
        let head = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
        let body: JSONValue = ["sdp": .string(head + media.joined())]
        return RouterResponse(status: 201, location: "/v1/participants/p", body: body.serialized())
    }
}

@Suite("Keys toward routers", .timeLimit(.minutes(10)))
struct KeyUseTests {
    /// With GCM a repeated (key, SSRC, index) breaks both secrecy and authenticity (RFC 7714 §8.4).
    @Test func `no key, SSRC and index is used twice, over takeover, failover and NACKs of everything`() throws {
        let routers = ProtectedRouters()
        let trust = RouterTrust(networks: [IPNetwork("127.0.0.1")!])
        let gateway = try Gateway { _ in
            ["r1", "r2"].enumerated().map { index, name in
                AnnounceDriver(
                    .init(name: name, url: "http://127.0.0.1:\(index + 1)", trust: trust, protection: .aeadAES128GCM),
                    gatewayID: "g", http: routers)
            }
        }
        routers.loop = gateway.loop
        func flowing(_ count: Int) -> Bool {
            gateway.wait { routers.announces.count == count && routers.announces[count - 1].datagrams.count > 60 }
        }
        gateway.publish("p", stage: "s")
        #expect(flowing(1))
        gateway.publications.removeFirst().end(.takenOver)
        gateway.publish("p", stage: "s")
        #expect(flowing(2))
        routers.dead = [routers.announces[1].router]
        for announce in routers.announces { announce.socket.stopReceiving() }
        #expect(flowing(3))
        #expect(routers.announces[2].router != routers.announces[1].router)

        #expect(Set(routers.announces.map(\.key)).count == 3, "every announce has a fresh key")
        #expect(routers.announces.reduce(into: Set<UInt32>()) { $0.formUnion($1.ssrcs) }.count == 6, "and fresh SSRCs")
        for announce in routers.announces {
            var sent: [String: [UInt8]] = [:]
            var repeated = 0
            // Far fewer than 32,768 packets from a start in the lower half: 16 bits name the index.
            for packet in announce.datagrams {
                let former = sent.updateValue(packet.bytes, forKey: "\(packet.ssrc) \(packet.sequenceNumber)")
                if let former { repeated += 1; #expect(former == packet.bytes) }
                #expect(announce.ssrcs.contains(packet.ssrc))
            }
            #expect(repeated > 5, "NACKs were answered")
        }
    }
}
