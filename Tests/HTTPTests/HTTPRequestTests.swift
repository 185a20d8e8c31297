import HTTP
import Testing
import Wire

@Suite("HTTP requests")
struct HTTPRequestTests {
    private func request(_ target: String = "/", _ fields: String = "", version: String = "1.1") throws -> HTTPRequest {
        try #require(try requests("GET \(target) HTTP/\(version)\r\nHost: example.org:8080\r\n\(fields)\r\n").first)
    }

    @Test func `the absolute form names the authority`() throws {
        #expect(try request("http://other/x").authority == "other")
        #expect(try request("/x").authority == "example.org:8080")
        #expect(try request("/x").target == "/x")
    }

    @Test func `paths and queries are decoded on demand`() throws {
        let request = try request("/v1/stages/a%2Fb%20c/?from=1%2B1&name=a+b&flag&=x&bad=%ff")
        #expect(request.path == "/v1/stages/a%2Fb%20c/")
        #expect(request.pathSegments == ["v1", "stages", "a/b c", ""])
        #expect(request.queryItems["from"] == "1+1")
        #expect(request.queryItems["name"] == "a b")
        #expect(request.queryItems["flag"] == "")
        #expect(request.queryItems["bad"] == nil)
        #expect(try self.request("/%ff").pathSegments == nil)
    }

    @Test func `what is not ASCII has 512 bytes at most in each part of a target`() {
        let most = String(repeating: "%CC%81", count: 256)
        #expect(HTTPRequestTarget("/\(most)/\(most)?\(most)=\(most)&\(most)") != nil)
        for target in ["/\(most)%CC", "/a?\(most)%CC=1", "/a?b=\(most)%cc"] { #expect(HTTPRequestTarget(target) == nil) }
        #expect(HTTPRequestTarget("/\(String(repeating: "%41", count: 600))") != nil)
    }

    @Test(arguments: [
        ("1.1", "", true), ("1.1", "Connection: close\r\n", false), ("1.1", "Connection: x, CLOSE\r\n", false),
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
    ])
    func `connections are kept as the version says`(_ version: String, _ fields: String, _ isKept: Bool) throws {
        #expect(try request("/", fields, version: version).keepsConnection == isKept)
    }

    @Test(arguments: [
        ("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", nil), ("Bearer", nil), ("Bearer ", nil),
        ("Bearer \u{301} ", "\u{301}"),
    ])
    func `bearer tokens`(_ field: String, _ token: String?) throws {
        #expect(try request("/", "Authorization: \(field)\r\n").bearerToken?.revealText() == token)
    }

    @Test func `cookies`() throws {
        let request = try request("/", "Cookie: a=1; session=x=y; b=\r\n")
        #expect(request.cookie("session") == "x=y")
        #expect(request.cookie("b") == "")
        #expect(request.cookie("c") == nil)
        let cookie = Cookie(name: "session", value: "v", maximumAge: .seconds(60), isSecure: true)
        #expect(cookie.fieldValue == "session=v; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure")
    }

    @Test(arguments: [
        ("", true), ("Accept: */*\r\n", true), ("Accept: application/*\r\n", true), ("Accept: application/sdp;q=0\r\n", false),
        ("Accept: text/html, application/sdp; q=0.5\r\n", true), ("Accept: text/html\r\n", false),
        ("Accept: application/sdp;q=0, */*\r\n", false),
    ])
    func `accept`(_ fields: String, _ isAccepted: Bool) throws {
        #expect(try request("/", fields).accepts("application/sdp") == isAccepted)
    }

    @Test func `media types`() throws {
        let type = try #require(MediaType("Application/SDP; Charset=\"utf-8\" ; a=b"))
        #expect(type.matches("application/sdp"))
        #expect(type.parameters == ["charset": "utf-8", "a": "b"])
        for bad in ["", "sdp", "a/b/c", "a /b", "a/b; c", "a/b; c=d e", "a/b; c=\"\u{301}\""] {
            #expect(MediaType(bad) == nil, "\(bad)")
        }
    }

    @Test func `header fields match in any case`() {
        var headers: HTTPHeaders = ["A": "1", "b": "2", "a": "3"]
        #expect(headers["B"] == "2")
        #expect(headers.values(of: "a") == ["1", "3"])
        headers["a"] = "4"
        #expect(headers.fields.map(\.value) == ["4", "2"])
        headers["A"] = nil
        #expect(headers.count == 1)
    }
}
