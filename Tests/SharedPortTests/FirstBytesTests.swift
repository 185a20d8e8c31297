import Testing
import Wire

@testable import SharedPort

@Suite("First bytes at the shared port")
struct FirstBytesTests {
    static let clientHello: [UInt8] = [
        0x16, 0x03, 0x01, 0x02, 0x00,  // a handshake record of 512 bytes
        0x01,  // ClientHello
    ]
    static let check: [UInt8] = [
        0x00, 0x6C,  // a frame of 108 bytes
        0x00, 0x01, 0x00, 0x58,  // a Binding request of 88 bytes behind its header
        0x21, 0x12, 0xA4, 0x42,  // magic cookie
    ]

    private static let foreign: [[UInt8]] = [
        Array("GET / HTTP/1.1".utf8), Array("SSH-2.0-".utf8), Array("PROXY TCP4".utf8),
        [0x03, 0, 0, 0, 0, 0, 0, 0, 0],  // C0 and C1 in the clear
        [0x06, 0, 0, 0],  // RTMPE
        [0x0D, 0x0A, 0x0D, 0x0A],  // a PROXY header of nobody we trust
        [0x16, 0x02], [0x16, 0x03, 0x05], [0x16, 0x03, 0x01, 0x41],  // other versions; a record longer than there are
        [0x16, 0x03, 0x01, 0x02, 0x00, 0x02],  // a ServerHello
        [0x80, 0x2E, 0x01],  // SSL 2
        [0x00, 0x6C, 0x01, 0x01],  // an answer
        [0x00, 0x6C, 0x00, 0x03],  // Allocate, which is TURN's
        [0x00, 0x6C, 0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xA4, 0x43],
        [0x00, 0x6D, 0x00, 0x01, 0x00, 0x59, 0x21, 0x12, 0xA4, 0x42],  // a length that is no multiple of four
        [0x00, 0x70, 0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xA4, 0x42],  // frame and message of different lengths
        [0x09, 0x00],  // a frame longer than a datagram
    ]

    @Test(arguments: [(clientHello, FirstBytes.Opening.tls), (check, .ice)])
    func `TLS and ICE are known when the last byte that tells is here, and not before`(
        _ bytes: [UInt8], _ expected: FirstBytes.Opening
    ) {
        for count in 0..<bytes.count { #expect(opening(bytes.prefix(count)) == .incomplete) }
        #expect(opening(bytes) == .found(expected))
        #expect(opening((bytes + [0xFF, 0, 7])) == .found(expected), "whatever follows")
    }

    @Test(arguments: foreign)
    func `what is neither is known by the byte that does not fit`(_ bytes: [UInt8]) {
        #expect(opening(bytes) == .foreign)
        let decisive = (0...bytes.count).first { opening(bytes.prefix($0)) != .incomplete } ?? 0
        for count in 0..<decisive { #expect(opening(bytes.prefix(count)) == .incomplete) }
        for count in decisive...bytes.count { #expect(opening(bytes.prefix(count)) == .foreign) }
    }

    @Test(arguments: ["GET / HTTP/1.1", "POST ", "OPTIONS *", "PRI * HTTP/2.0", "UPDATEREDIRECTREF /"])
    func `a method and its blank are HTTP`(_ request: String) {
        let bytes = Array(request.utf8)
        let method = bytes.prefix { $0 != 0x20 }.count
        for count in 0...method { #expect(content(bytes.prefix(count)) == .incomplete) }
        for count in (method + 1)...bytes.count { #expect(content(bytes.prefix(count)) == .found(.https)) }
    }

    @Test func `C0 is RTMP`() {
        #expect(content([3]) == .found(.rtmps))
        #expect(content([3, 0, 0, 0, 0]) == .found(.rtmps))
    }

    @Test(arguments: [" GET", "get ", "\r\nGET ", "GETGETGETGETGETGETGET", "\u{16}\u{3}", "\0"])
    func `inside TLS too there is what belongs to nobody`(_ text: String) {
        #expect(content(Array(text.utf8)) == .foreign)
    }

    private func opening(_ bytes: some Collection<UInt8>) -> FirstBytes.Reading<FirstBytes.Opening> {
        FirstBytes.opening(Array(bytes).span.bytes)
    }

    private func content(_ bytes: some Collection<UInt8>) -> FirstBytes.Reading<ConnectionKind> {
        FirstBytes.content(Array(bytes).span.bytes)
    }
}
