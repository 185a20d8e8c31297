import HTTP
import SharedPort
import Testing
import Wire

@Suite("Introduction at the shared port")
struct IntroductionTests {
    private static let header: [UInt8] =
        [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]  // signature
        + [0x21, 0x11, 0, 12]  // PROXY, TCP over IPv4, 12 bytes
        + [203, 0, 113, 9, 127, 0, 0, 1, 0x9C, 0x40, 0x01, 0xBB]
    private static let source = SocketAddress("203.0.113.9:40000")

    private static func opened(isTrustedProxy: Bool = false) -> Introduction {
        var introduction = Introduction(isTrustedProxy: isTrustedProxy)
        #expect(introduction.receive(FirstBytesTests.clientHello) == .startTLS)
        return introduction
    }

    @Test func `ICE is handed on from outside TLS`() {
        var introduction = Introduction(isTrustedProxy: false)
        #expect(introduction.receive(FirstBytesTests.check.prefix(9)) == .wait)
        #expect(introduction.receive(FirstBytesTests.check) == .hand(.ice))
    }

    @Test func `inside TLS the first bytes decide where the client left it open`() {
        var web = Self.opened()
        #expect(web.handshakeCompleted(applicationProtocol: nil) == .wait)
        #expect(web.receive(Array("GE".utf8)) == .wait)
        #expect(web.receive(Array("GET ".utf8)) == .hand(.https))
        var encoder = Self.opened()
        #expect(encoder.handshakeCompleted(applicationProtocol: nil) == .wait)
        #expect(encoder.receive([3]) == .hand(.rtmps))
    }

    @Test func `ALPN decides before the first byte`() {
        var introduction = Self.opened()
        #expect(introduction.handshakeCompleted(applicationProtocol: "http/1.1") == .hand(.https))
    }

    @Test func `ICE inside TLS and TLS inside TLS are nobody's`() {
        for bytes in [FirstBytesTests.check, FirstBytesTests.clientHello] {
            var introduction = Self.opened()
            #expect(introduction.handshakeCompleted(applicationProtocol: nil) == .wait)
            #expect(introduction.receive(bytes) == .close(.unknown))
        }
    }

    @Test func `a trusted balancer's header comes off byte by byte, and names the peer`() {
        var introduction = Introduction(isTrustedProxy: true)
        for count in 1..<Self.header.count { #expect(introduction.receive(Self.header.prefix(count)) == .wait) }
        let whole = Self.header + FirstBytesTests.check
        #expect(introduction.receive(whole) == .take(byteCount: Self.header.count, source: Self.source))
        #expect(introduction.receive(FirstBytesTests.check) == .hand(.ice))
    }

    @Test func `nobody else's header is taken, nor a second one`() {
        var stranger = Introduction(isTrustedProxy: false)
        #expect(stranger.receive(Self.header) == .close(.unknown))
        var balancer = Introduction(isTrustedProxy: true)
        #expect(balancer.receive(Self.header) == .take(byteCount: Self.header.count, source: Self.source))
        #expect(balancer.receive(Self.header) == .close(.unknown))
    }

    @Test func `without a header a balancer's HTTP and ICE are served, its RTMP is not`() {
        var web = Self.opened(isTrustedProxy: true)
        #expect(web.handshakeCompleted(applicationProtocol: "http/1.1") == .hand(.https))
        var peer = Introduction(isTrustedProxy: true)
        #expect(peer.receive(FirstBytesTests.check) == .hand(.ice))
        var encoder = Self.opened(isTrustedProxy: true)
        #expect(encoder.handshakeCompleted(applicationProtocol: nil) == .wait)
        #expect(encoder.receive([3]) == .close(.missingProxyHeader))
    }

    @Test(arguments: [Array("PROXY TCP4 ".utf8), Array(header[..<12]) + [0x31, 0x11, 0, 12]])
    func `a header that is not taken closes`(_ bytes: [UInt8]) {
        var introduction = Introduction(isTrustedProxy: true)
        #expect(introduction.receive(bytes) == .close(.malformedProxyHeader))
    }

    @Test func `who was told apart is asked no more`() {
        var introduction = Introduction(isTrustedProxy: false)
        #expect(introduction.receive([0xFF]) == .close(.unknown))
        #expect(introduction.receive(FirstBytesTests.check) == .wait)
        #expect(introduction.handshakeCompleted(applicationProtocol: "http/1.1") == .wait)
    }
}

extension Introduction {
    fileprivate mutating func receive(_ bytes: some Collection<UInt8>) -> Action {
        let all = Array(bytes)
        return receive(all.span.bytes)
    }
}
