import HTTP
import JSON
import Testing

@Suite("HTTP responses")
struct HTTPResponseTests {
    private func text(_ response: HTTPResponse, _ method: HTTPMethod = .get, isLast: Bool = false) -> String {
        String(decoding: response.serialized(answering: method, date: nil, isLast: isLast), as: UTF8.self)
    }

    @Test func `carry length and body`() {
        let response = HTTPResponse(.created, contentType: "application/sdp", "v=0", headers: ["Location": "/whip/1"])
        let head = "HTTP/1.1 201 Created\r\nLocation: /whip/1\r\nContent-Type: application/sdp\r\nContent-Length: 3\r\n"
        #expect(text(response) == head + "\r\nv=0")
        #expect(text(response, .head) == head + "\r\n")
        #expect(text(response, isLast: true) == head + "Connection: close\r\n\r\nv=0")
    }

    @Test func `tell a client of HTTP/1.0 that its connection is kept`() {
        func fields(_ version: HTTPVersion, isLast: Bool) -> String {
            let bytes = HTTPResponse(.ok).serialized(answering: .get, to: version, date: nil, isLast: isLast)
            return String(decoding: bytes, as: UTF8.self).replacing("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", with: "")
        }
        #expect(fields(.http10, isLast: false) == "Connection: keep-alive\r\n\r\n")
        #expect(fields(.http10, isLast: true) == "Connection: close\r\n\r\n")
        #expect(fields(.http11, isLast: false) == "\r\n")
    }

    @Test func `say a reason of their own in place of the status's, on one line`() {
        var response = HTTPResponse(.unauthorized)
        response.reason = "SD-1010: The token\r\nhas expired"
        #expect(text(response).hasPrefix("HTTP/1.1 401 SD-1010: The token  has expired\r\nContent-Length: 0\r\n"))
    }

    @Test(arguments: [204, 304])
    func `have no body where none may be`(_ code: Int) {
        #expect(!text(HTTPResponse(HTTPStatus(code), body: [65])).contains("Content-Length"))
        #expect(text(HTTPResponse(HTTPStatus(code), body: [65])).hasSuffix("\r\n\r\n"))
    }

    @Test func `never let a value write a field, nor a handler the framing`() {
        let response = HTTPResponse(.ok, headers: ["X": "a\r\nSet-Cookie: b", "content-length": "99"])
        #expect(text(response) == "HTTP/1.1 200 OK\r\nX: a  Set-Cookie: b\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func `stream in chunks, and up to the end for who knows none`() {
        let response = HTTPResponse(.ok, headers: ["Content-Type": "text/event-stream"])
        let fields = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        let chunked = response.serializedStreamHead(to: .http11, date: nil)
        #expect(String(decoding: chunked, as: UTF8.self) == fields + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        let plain = response.serializedStreamHead(to: .http10, date: nil)
        #expect(String(decoding: plain, as: UTF8.self) == fields + "Connection: close\r\n\r\n")
        #expect(ChunkedBody.chunk(Array(repeating: 65, count: 17)) == Array("11\r\nAAAAAAAAAAAAAAAAA\r\n".utf8))
        #expect(ChunkedBody.chunk([]).isEmpty)
    }

    @Test func `server-sent events keep their lines apart`() {
        let event = ServerSentEvent(event: "active\nx", id: "7", data: "a\r\nb\nc")
        #expect(String(decoding: event.serialized(), as: UTF8.self) == "event: active x\nid: 7\ndata: a\ndata: b\ndata: c\n\n")
    }

    /// JSON has them as they are in its strings, and clients would put a line feed in their place.
    @Test(arguments: ["\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}"])
    func `what no client of events takes for a line's end stays in its line`(_ text: String) {
        let event = ServerSentEvent(data: "a\(text)b\rc")
        #expect(String(decoding: event.serialized(), as: UTF8.self) == "data: a\(text)b\ndata: c\n\n")
    }

    @Test func `problem documents`() throws {
        let problem = ProblemDocument(.forbidden, title: "Denied", detail: "no", extensions: ["code": "SD-1001"])
        let response = problem.response(headers: ["Retry-After": "1"])
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(
            try JSONValue(parsing: response.body)
                == ["type": "about:blank", "title": "Denied", "status": 403, "detail": "no", "code": "SD-1001"])
    }
}
