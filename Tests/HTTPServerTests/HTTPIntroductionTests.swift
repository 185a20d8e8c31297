import HTTP
import Testing
import Wire

@testable import HTTPServer

@Suite("What comes before requests")
struct HTTPIntroductionTests {
    private static let header = HTTPServerFeatureTests.proxyHeader
    private static let request = Array("GET / HTTP/1.1\r\n".utf8)
    /// The beginning of a ClientHello's record.
    private static let hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00]

    private static func introduction(fromBalancer: Bool = false, speaksTLS: Bool = false) -> HTTPIntroduction {
        HTTPIntroduction(mayBeginWithProxyHeader: fromBalancer, speaksTLS: speaksTLS)
    }

    @Test func `where nothing comes before them, requests are read from the first byte`() {
        var introduction = Self.introduction()
        #expect(introduction.receive(Self.request.prefix(1)) == .readRequests)
        #expect(introduction.receive(Self.request) == .readRequests)
        #expect(!introduction.balancerEndedTLS)
    }

    @Test(arguments: [false, true])
    func `a balancer's header comes off byte by byte, once`(speaksTLS: Bool) throws {
        let header = Self.header
        let parsed = try PROXYHeader.parse(header.span.bytes)
        var introduction = Self.introduction(fromBalancer: true, speaksTLS: speaksTLS)
        for count in 1..<header.count { #expect(introduction.receive(header.prefix(count)) == .wait) }
        #expect(introduction.receive(header + Self.hello) == .takeHeader(try #require(parsed)))
        #expect(introduction.receive(header) == (speaksTLS ? .startTLS : .readRequests))
    }

    @Test func `without a header a balancer's first bytes are what anybody's are`() {
        var plain = Self.introduction(fromBalancer: true)
        #expect(plain.receive(Self.request) == .readRequests)
        var secure = Self.introduction(fromBalancer: true, speaksTLS: true)
        #expect(secure.receive(Self.hello) == .startTLS)
        #expect(secure.receive(Self.request) == .readRequests)
    }

    @Test func `nobody else's header is taken`() {
        var introduction = Self.introduction()
        #expect(introduction.receive(Self.header) == .readRequests)
    }

    @Test(arguments: [true, false])
    func `a header tells whether the client spoke TLS to the balancer`(isSecure: Bool) {
        var header = Self.header + [0x20, 0x00, 0x05, isSecure ? 1 : 0, 0, 0, 0, 0]  // PP2_TYPE_SSL
        header[15] += 8
        var introduction = Self.introduction(fromBalancer: true)
        _ = introduction.receive(header)
        #expect(introduction.balancerEndedTLS == isSecure)
    }

    @Test(
        arguments: [
            (Array("PROXY TCP4 ".utf8), "Send version 2 of the PROXY protocol."),
            (Array(header[..<12]) + [0x31, 0x11, 0x00, 0x0C], "The PROXY header is malformed."),
            (Array(header[..<12]) + [0x21, 0x11, 0xFF, 0xFF], "The PROXY header is malformed."),
        ])
    func `a header that is not taken is refused in words`(_ bytes: [UInt8], _ sentence: String) {
        var introduction = Self.introduction(fromBalancer: true, speaksTLS: true)
        #expect(introduction.receive(bytes) == .refuse(sentence))
    }

    @Test(arguments: [false, true])
    func `HTTP in the clear is refused where TLS is spoken`(behindHeader: Bool) {
        var introduction = Self.introduction(fromBalancer: behindHeader, speaksTLS: true)
        if behindHeader { _ = introduction.receive(Self.header) }
        #expect(introduction.receive(Self.request) == .refuse("This port speaks HTTPS alone: write https:// in the URL."))
    }
}

extension HTTPIntroduction {
    fileprivate mutating func receive(_ bytes: some Sequence<UInt8>) -> Action {
        let all = Array(bytes)
        return receive(all.span.bytes)
    }
}
