import HTTP
import TestSupport
import Testing

/// Feeds `pieces` to a fresh parser and gathers everything that comes out, pipelined requests too.
func events(_ pieces: [[UInt8]], bodyLimit: Int = 100) throws(HTTPError) -> [HTTPRequestParser.Event] {
    var parser = HTTPRequestParser(maximumBodyLength: bodyLimit)
    var events: [HTTPRequestParser.Event] = []
    for piece in pieces {
        var rest = piece[...]
        while !rest.isEmpty {
            let (count, event) = try parser.receive(Array(rest).span.bytes)
            rest = rest.dropFirst(count)
            if let event { events.append(event) }
        }
    }
    return events
}

func requests(_ text: String) throws(HTTPError) -> [HTTPRequest] {
    var requests: [HTTPRequest] = []
    for case .request(let request) in try events([Array(text.utf8)]) { requests.append(request) }
    return requests
}

@Suite("HTTP request parser (RFC 9112)")
struct HTTPRequestParserTests {
    static let host = "Host: a\r\n"

    static let good: [(String, String, String, String)] = [
        ("GET / HTTP/1.1\r\n\(host)\r\n", "GET", "/", ""),
        ("\r\nGET /x?y=1 HTTP/1.1\r\n\(host)\r\n", "GET", "/x", ""),
        ("GET http://b:80/p?q HTTP/1.1\r\n\(host)\r\n", "GET", "/p", ""),
        ("GET HTTPS://b HTTP/1.1\r\n\(host)\r\n", "GET", "/", ""),
        ("OPTIONS * HTTP/1.1\r\n\(host)\r\n", "OPTIONS", "*", ""),
        ("HEAD / HTTP/1.0\r\n\r\n", "HEAD", "/", ""),
        ("GET / HTTP/1.2\r\n\(host)\r\n", "GET", "/", ""),
        ("POST /whip HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello", "POST", "/whip", "hello"),
        ("POST / HTTP/1.1\r\n\(host)content-length:0\r\n\r\n", "POST", "/", ""),
        (
            "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1;a=\"b\"\r\n!\r\n0\r\n\r\n", "POST", "/",
            "hello!"
        ),
        ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n00000002\r\nhi\r\n0;x\r\nT: 1\r\n\r\n", "POST", "/", "hi"),
        ("GET / HTTP/1.1\r\nHost:[::1]:8080 \r\nX:\t\u{E9}\t \r\n\r\n", "GET", "/", ""),
    ]

    @Test(arguments: good)
    func `reads whole, byte by byte and cut anywhere`(_ text: String, _ method: String, _ path: String, _ body: String) throws {
        let bytes = Array(text.utf8)
        let whole = try events([bytes])
        guard case .request(let request)? = whole.first, whole.count == 1 else { throw HTTPError.malformedLine }
        #expect(request.method.rawValue == method)
        #expect(request.path == path)
        #expect(request.body == Array(body.utf8))
        #expect(try events(ByteFeeder.pieces(of: bytes, size: 1)) == whole)
        for seed in 0..<20 as Range<UInt64> { #expect(try events(ByteFeeder.pieces(of: bytes, seed: seed)) == whole) }
    }

    @Test(arguments: good.map(\.0))
    func `a prefix is no request yet`(_ text: String) throws {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count { #expect(try events([Array(bytes.prefix(length))]).isEmpty) }
    }

    @Test func `pipelined requests come out one by one`() throws {
        let first = "POST /1 HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\n\r\nab"
        let text = first + "DELETE /2 HTTP/1.1\r\n\(Self.host)\r\nGET /3 HTTP/1.1\r\n\(Self.host)\r\n"
        let found = try requests(text)
        #expect(found.map(\.path) == ["/1", "/2", "/3"])
        #expect(found[0].body == Array("ab".utf8))
        var parser = HTTPRequestParser(maximumBodyLength: 10)
        #expect(try parser.receive(Array(text.utf8).span.bytes).byteCount == first.utf8.count)
    }

    static let smuggling: [(String, HTTPError)] = [
        ("\(host)Content-Length: 3\r\nContent-Length: 3\r\n", .repeatedField("Content-Length")),
        ("\(host)Content-Length: 3, 3\r\n", .malformedFraming),
        ("\(host)Content-Length: +3\r\n", .malformedFraming), ("\(host)Content-Length: -1\r\n", .malformedFraming),
        ("\(host)Content-Length: 0x3\r\n", .malformedFraming), ("\(host)Content-Length:\r\n", .malformedFraming),
        ("\(host)Content-Length: 9999999999999999999\r\n", .malformedFraming),
        ("\(host)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", .malformedFraming),
        ("\(host)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .repeatedField("Transfer-Encoding")),
        ("\(host)Transfer-Encoding: xchunked\r\n", .malformedFraming),
        ("\(host)Transfer-Encoding: chunked, identity\r\n", .malformedFraming),
        ("\(host)Transfer-Encoding: gzip, chunked\r\n", .malformedFraming),
        ("\(host)Transfer-Encoding: \"chunked\"\r\n", .malformedFraming),
        ("\(host)Transfer-Encoding:\u{B}chunked\r\n", .malformedLine),
        ("\(host)Transfer-Encoding : chunked\r\n", .malformedField),
        ("\(host)Transfer-Encoding\r\n", .malformedField), ("\(host): x\r\n", .malformedField),
        ("\(host)X Y: x\r\n", .malformedField),
        ("\(host)X:\(String(repeating: "\u{301}", count: 513))\r\n", .malformedField),
        ("\(host)X: 1\r\n y\r\n", .foldedField), ("\(host)X: 1\r\n\ty\r\n", .foldedField), (" X: 1\r\n\(host)", .foldedField),
        ("Host: a\n", .malformedLine), ("\(host)X: a\nY: b\r\n", .malformedLine), ("\(host)X: a\rY: b\r\n", .malformedLine),
        ("\(host)X: a\u{0}b\r\n", .malformedLine), ("\(host)X\u{0}: b\r\n", .malformedLine),
        ("\(host)X: \u{7F}\r\n", .malformedLine),
        ("Host: a\r\nhost: b\r\n", .repeatedField("Host")), ("", .missingHost), ("Host: a b\r\n", .malformedHost),
        ("Host: a/b\r\n", .malformedHost), ("Host: u@a\r\n", .malformedHost), ("Host: a:x\r\n", .malformedHost),
        ("\(host)Expect: 200-ok\r\n", .unsupportedExpectation),
        ("\(host)Authorization: a\r\nAuthorization: b\r\n", .repeatedField("Authorization")),
        ("\(host)Content-Length: 101\r\n", .bodyTooLarge), ("\(host)Content-Length: 999999999999\r\n", .bodyTooLarge),
    ]

    @Test(arguments: smuggling)
    func `refuses header fields that two parsers could read differently`(_ fields: String, _ error: HTTPError) {
        let bytes = Array("POST / HTTP/1.1\r\n\(fields)\r\n".utf8)
        #expect(throws: error) { try events([bytes]) }
        #expect(throws: error) { try events(ByteFeeder.pieces(of: bytes, size: 1)) }
    }

    @Test(arguments: [
        ("GET  / HTTP/1.1", HTTPError.malformedRequestLine), ("GET /", .malformedRequestLine),
        ("GET / HTTP/1.1 ", .malformedRequestLine),
        ("GET / http/1.1", .malformedRequestLine), ("GET / HTTP/1.10", .malformedRequestLine),
        ("G(T / HTTP/1.1", .malformedRequestLine),
        (" GET / HTTP/1.1", .malformedRequestLine), ("\u{16}\u{3}\u{1}", .malformedLine),
        ("\u{E9}GET / HTTP/1.1", .malformedRequestLine),
        ("GET / HTTP/2.0", .unsupportedVersion), ("PRI * HTTP/2.0", .unsupportedVersion), ("GET / HTTP/0.9", .unsupportedVersion),
        ("GET * HTTP/1.1", .malformedTarget), ("CONNECT a:443 HTTP/1.1", .malformedTarget), ("GET x HTTP/1.1", .malformedTarget),
        ("GET /# HTTP/1.1", .malformedTarget), ("GET /%2 HTTP/1.1", .malformedTarget), ("GET /%zz HTTP/1.1", .malformedTarget),
        ("GET /\u{E9} HTTP/1.1", .malformedTarget), ("GET ftp://a/ HTTP/1.1", .malformedTarget),
        ("GET \u{301} HTTP/1.1", .malformedTarget), ("GET http:/// HTTP/1.1", .malformedTarget),
        ("GET http://u:p@a/ HTTP/1.1", .malformedTarget),
        ("GET /\(String(repeating: "%CC%81", count: 257)) HTTP/1.1", .malformedTarget),
    ])
    func `refuses request lines`(_ line: String, _ error: HTTPError) {
        #expect(throws: error) { try events([Array("\(line)\r\nHost: a\r\n\r\n".utf8)]) }
    }

    @Test(arguments: [
        ("g\r\n", HTTPError.malformedChunk), (" 1\r\na\r\n", .malformedChunk), ("1 \r\na\r\n", .malformedChunk),
        ("-1\r\n", .malformedChunk),
        ("0x1\r\na\r\n", .malformedChunk), ("\r\n", .malformedChunk), ("000000001\r\na\r\n", .malformedChunk),
        ("1\r\nab\r\n", .malformedChunk), ("1\r\na\n", .malformedLine), ("1\na\r\n", .malformedLine),
        ("1;\u{0}\r\n", .malformedLine),
        ("65\r\n", .bodyTooLarge), ("ffffffff\r\n", .bodyTooLarge), ("1\r\na\r\n64\r\n", .bodyTooLarge),
        ("0\r\nT : 1\r\n\r\n", .malformedField), ("0\r\n x\r\n\r\n", .foldedField),
        ("1;\(String(repeating: "x", count: 300))\r\na\r\n0\r\n\r\n", .malformedChunk),
        (String(repeating: "1;\(String(repeating: "x", count: 250))\r\na\r\n", count: 70), .malformedChunk),
        ("0\r\n" + String(repeating: "T: 1\r\n", count: 4000), .malformedChunk),
    ])
    func `refuses chunks`(_ body: String, _ error: HTTPError) {
        let head = "POST / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
        #expect(throws: error) { try events([Array((head + body).utf8)]) }
    }

    @Test func `refuses chunks in HTTP 1.0`() {
        #expect(throws: HTTPError.malformedFraming) {
            try requests("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        }
    }

    @Test(arguments: [
        (String(repeating: "x", count: 8200), HTTPError.targetTooLong),
        ("/ HTTP/1.1\r\nX: \(String(repeating: "y", count: 17_000))", .headTooLarge),
        ("/ HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 101), .headTooLarge),
    ])
    func `an oversize head is refused before its end`(_ rest: String, _ error: HTTPError) {
        #expect(throws: error) { try events([Array("GET \(rest)".utf8)]) }
    }

    @Test func `a client that expects 100 is told before its body`() throws {
        let head = "POST / HTTP/1.1\r\n\(Self.host)Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
        #expect(try events([Array(head.utf8)]) == [.continueExpected])
        #expect(try events([Array((head + "ab").utf8)]).count == 2)
    }

    @Test func `20,000 mutated requests never trap`() {
        var generator = SplitMix64(seed: 42)
        let seeds = Self.good.map { Array($0.0.utf8) } + Self.smuggling.map { Array("POST / HTTP/1.1\r\n\($0.0)\r\n".utf8) }
        for round in 0..<20_000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
                default: bytes.replaceSubrange(index..., with: bytes[..<index])
                }
                if bytes.isEmpty { bytes = [0x47] }
            }
            _ = try? events(ByteFeeder.pieces(of: bytes, seed: UInt64(round)))
        }
    }
}
