import HTTP
import Testing
import Wire

@Suite("PROXY protocol version 2")
struct PROXYHeaderTests {
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    static let v4: [UInt8] =
        signature + [
            0x21, 0x11, 0x00, 0x0F,  // version 2, PROXY, TCP over IPv4, 15 bytes
            192, 0, 2, 7, 198, 51, 100, 1, 0xC0, 0x00, 0x07, 0x8F,  // 192.0.2.7:49152 to 198.51.100.1:1935
            0x04, 0x00, 0x00,  // PP2_TYPE_NOOP
        ]

    @Test func `tells the client`() throws {
        let header = try #require(try PROXYHeader.parse((Self.v4 + [3]).span.bytes))
        #expect(header.source?.description == "192.0.2.7:49152")
        #expect(header.byteCount == Self.v4.count)
    }

    @Test(
        arguments: [
            ([0x20, 0, 5, 0x01, 0, 0, 0, 0], true), ([0x04, 0, 1, 9, 0x20, 0, 5, 0x07, 0, 0, 0, 0], true),
            ([0x20, 0, 5, 0x00, 0, 0, 0, 1], false), ([0x20, 0, 0], false), ([0x20, 0, 9, 0x01], false), ([0x20, 0], false),
            ([], false),
        ] as [([UInt8], Bool)])
    func `tells whether the client spoke TLS to the balancer`(_ values: [UInt8], _ isSecure: Bool) throws {
        let head: [UInt8] = [0x21, 0x11, 0, UInt8(12 + values.count), 192, 0, 2, 7, 198, 51, 100, 1, 0xC0, 0x00, 0x07, 0x8F]
        let header = try #require(try PROXYHeader.parse((Self.signature + head + values).span.bytes))
        #expect(header.isSecure == isSecure && header.byteCount == 28 + values.count)
    }

    @Test func `waits for the rest`() throws {
        for length in 0..<Self.v4.count { #expect(try PROXYHeader.parse(Array(Self.v4.prefix(length)).span.bytes) == nil) }
    }

    @Test func `IPv6, LOCAL and Unix sockets`() throws {
        let v6 =
            Self.signature + [0x21, 0x21, 0, 36] + Array(repeating: 0, count: 15) + [1] + Array(repeating: 0, count: 15) + [
                2, 0, 80, 0, 81,
            ]
        #expect(try PROXYHeader.parse(v6.span.bytes)?.source?.description == "[::1]:80")
        #expect(try PROXYHeader.parse((Self.signature + [0x20, 0x00, 0, 0]).span.bytes)?.byteCount == 16)
        #expect(try PROXYHeader.parse((Self.signature + [0x21, 0x31, 0, 2, 0, 0]).span.bytes)?.source == nil)
    }

    static let bad: [([UInt8], PROXYHeader.ParseError)] = [
        (Array("PROXY TCP4 1.2.3.4".utf8), .version1),
        (Array("GET / HTTP/1.1".utf8), .missing),
        (Array("PRI * HTTP".utf8), .missing),
        ([0x03], .missing),
        (after([0x11, 0x11, 0, 12]), .malformed),
        (after([0x22, 0x11, 0, 12]), .malformed),
        (after([0x21, 0x13, 0, 0]), .malformed),
        (after([0x21, 0x11, 0, 4, 1, 2, 3, 4]), .malformed),
        (after([0x21, 0x11, 0x10, 0]), .tooLong),
    ]

    private static func after(_ rest: [UInt8]) -> [UInt8] { signature + rest }

    @Test(arguments: bad)
    func `refuses`(_ bytes: [UInt8], _ error: PROXYHeader.ParseError) {
        #expect(throws: error) { try PROXYHeader.parse(bytes.span.bytes) }
    }
}

@Suite("X-Forwarded-For")
struct ForwardedSourceTests {
    static let trusted = [IPNetwork("10.0.0.0/8")!, IPNetwork("::1")!]

    @Test(arguments: [
        ("10.0.0.1", "203.0.113.9", "203.0.113.9:0"), ("203.0.113.1", "198.51.100.1", "203.0.113.1:5"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.2.2.2", "203.0.113.9:0"), ("10.0.0.1", "10.9.9.9", "10.9.9.9:0"),
        ("10.0.0.1", "203.0.113.9, junk, 10.2.2.2", "10.2.2.2:0"), ("10.0.0.1", "203.0.113.9:77", "203.0.113.9:77"),
        ("::1", "[2001:db8::1]", "[2001:db8::1]:0"), ("10.0.0.1", "unknown", "10.0.0.1:5"),
        // U+0600 and the comma that a proxy writes behind it are one character.
        ("10.0.0.1", "1.1.1.1\u{600}, 203.0.113.9", "203.0.113.9:0"), ("10.0.0.1", "\u{600},203.0.113.9", "203.0.113.9:0"),
    ])
    func `is believed from the right, as far as proxies are trusted`(_ peer: String, _ field: String, _ source: String) throws {
        let peer = SocketAddress(try #require(IPAddress(peer)), port: 5)
        let forwarded = ForwardedSource(peer: peer, isSecure: false, headers: ["X-Forwarded-For": field], trusted: Self.trusted)
        #expect(forwarded.source.description == source)
    }

    @Test func `the scheme too`() {
        let headers: HTTPHeaders = ["X-Forwarded-Proto": "https"]
        let inside = SocketAddress(.v4(0x0A00_0001), port: 1)
        let outside = SocketAddress(.v4(0xCB00_7101), port: 1)
        #expect(ForwardedSource(peer: inside, isSecure: false, headers: headers, trusted: Self.trusted).isSecure)
        #expect(!ForwardedSource(peer: outside, isSecure: false, headers: headers, trusted: Self.trusted).isSecure)
    }

    private static let longest = "/" + String(repeating: "a", count: 255)

    /// The fields of the proxies, and what stands before every path that an answer names.
    static let prefixes: [([String], String)] = [
        ([], ""), (["/ingest"], "/ingest"), (["/a/b-c_d.e~1/"], "/a/b-c_d.e~1"), (["/outer", "/inner"], "/outer/inner"),
        (["/outer, /inner"], "/outer/inner"), (["/"], ""), ([longest], longest),
        ([longest + "a"], ""), (["ingest"], ""), (["/a", "b"], ""), (["//evil.example"], ""),
        (["/a//b"], ""), (["/a/../b"], ""), (["/."], ""), (["/a b"], ""), (["/a%2e"], ""), (["/a\\b"], ""), (["/a?b"], ""),
        (["/ä"], ""), (["https://evil.example"], ""), (["/a>; rel=\"x\""], ""),
    ]

    @Test(arguments: prefixes)
    func `a prefix of the path is believed when it is a path`(_ fields: [String], _ prefix: String) {
        var headers = HTTPHeaders()
        for field in fields { headers.add("X-Forwarded-Prefix", field) }
        let (inside, outside) = (SocketAddress(.v4(0x0A00_0001), port: 1), SocketAddress(.v4(0xCB00_7101), port: 1))
        let trusting = ForwardedSource(peer: inside, isSecure: false, headers: headers, trusted: Self.trusted)
        #expect(trusting.pathPrefix == prefix)
        #expect(ForwardedSource(peer: outside, isSecure: false, headers: headers, trusted: Self.trusted).pathPrefix.isEmpty)
    }
}
