import HTTP
import JSON
import OpenSSL
import Settings
import Store
import Testing
import Wire

@testable import ControlPlane

@Suite("Console sessions")
struct ConsoleSessionsTests {
    private static let path = "/v1/console/session"

    /// A plane that demands signatures, and one signed-in operator.
    static func bench(_ change: (inout ControlPlaneSettings) -> Void = { _ in }) throws -> APIBench {
        try APIBench {
            $0.admin.auth = .sigv4
            change(&$0)
        }
    }

    private static func request(_ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders = [:]) throws -> HTTPRequest {
        var headers = headers
        if headers["Host"] == nil { headers["Host"] = "127.0.0.1:8088" }
        return HTTPRequest(
            method: method, target: try #require(HTTPRequestTarget(target)), rawTarget: target, headers: headers, body: [])
    }

    /// As the page's signature.js signs.
    private static func signed(secret: String = "secret", at time: WallTime = .init(secondsSince1970: 1_790_000_000)) throws
        -> HTTPHeaders
    {
        let stamp = CivilTime(time).iso8601Basic
        let scope = [String(stamp.prefix(8)), "us-east-1", "ivs", "aws4_request"]
        let canonical = [
            "POST", path, "", "host:127.0.0.1:8088", "x-amz-date:\(stamp)", "", "host;x-amz-date",
            String(hexadecimal: Digest.sha256([])),
        ].joined(separator: "\n")
        let key = scope.reduce(Array("AWS4\(secret)".utf8)) { HMAC.sha256(key: $0, Array($1.utf8)) }
        let text = [
            "AWS4-HMAC-SHA256", stamp, scope.joined(separator: "/"), String(hexadecimal: Digest.sha256(Array(canonical.utf8))),
        ]
        let signature = String(hexadecimal: HMAC.sha256(key: key, Array(text.joined(separator: "\n").utf8)))
        return [
            "X-Amz-Date": stamp,
            "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\(scope.joined(separator: "/")), "
                + "SignedHeaders=host;x-amz-date, Signature=\(signature)",
        ]
    }

    static func signIn(_ bench: APIBench) throws -> (cookie: String, token: String) {
        let answer = try #require(bench.plane.consoleSession(request(.post, path, signed(at: bench.plane.wallNow()))))
        #expect(answer.status == .ok)
        let field = try #require(answer.headers["Set-Cookie"])
        #expect(field.contains("HttpOnly") && field.contains("SameSite=Strict"))
        let token = try #require(JSONValue(parsing: answer.body)["csrfToken"]?.string)
        return (String(field.prefix { $0 != ";" }), token)
    }

    @Test func `a signature gives a cookie, which reads, and with the token changes`() throws {
        let bench = try Self.bench()
        let (cookie, token) = try Self.signIn(bench)
        func refusal(_ headers: HTTPHeaders, for action: AccessAction) throws -> HTTPResponse? {
            bench.plane.refusal(of: try Self.request(.post, "/v1/drain", headers), for: action)
        }
        #expect(try refusal(["Cookie": cookie], for: .getDrain) == nil)
        #expect(try refusal(["Cookie": cookie], for: .startDrain)?.status == .forbidden)
        #expect(try refusal(["Cookie": cookie, "X-Stagedoor-CSRF": "x"], for: .startDrain)?.status == .forbidden)
        #expect(try refusal(["Cookie": cookie, "X-Stagedoor-CSRF": token], for: .startDrain) == nil)
        #expect(try refusal([:], for: .getDrain)?.status == .forbidden)
    }

    /// A browser gives all of a host's cookies to each of its ports, and keeps one of a name for all of them: signing in at one
    /// node's console signed out at another's.
    @Test(arguments: [
        ("127.0.0.1:8088", "stagedoor_console_8088"), ("[::1]:8098", "stagedoor_console_8098"), ("[::1]", "stagedoor_console"),
        ("10.0.0.1", "stagedoor_console"), ("console.example", "stagedoor_console"),
    ])
    func `consoles at other ports of a host have other cookies`(_ host: String, _ name: String) throws {
        #expect(try ConsoleSessions.cookieName(for: Self.request(.get, "/", ["Host": host])) == name)
    }

    @Test func `another port's cookie neither signs in nor is signed out`() throws {
        let bench = try Self.bench()
        let (cookie, _) = try Self.signIn(bench)
        #expect(cookie.hasPrefix("stagedoor_console_8088="))
        func isSignedIn(_ headers: HTTPHeaders) throws -> Bool {
            bench.plane.refusal(of: try Self.request(.get, "/v1/overview", headers), for: .getOverview) == nil
        }
        #expect(try isSignedIn(["Cookie": "stagedoor_console_8098=other; \(cookie)"]))
        #expect(try !isSignedIn(["Host": "127.0.0.1:8098", "Cookie": cookie]))
        let out = bench.plane.consoleSession(
            try Self.request(.delete, Self.path, ["Host": "127.0.0.1:8098", "Cookie": cookie]))
        #expect(out?.headers["Set-Cookie"]?.hasPrefix("stagedoor_console_8098=; ") == true)
        #expect(try isSignedIn(["Cookie": cookie]))
    }

    @Test func `a wrong secret gives none`() throws {
        let bench = try Self.bench()
        let headers = try Self.signed(secret: "other", at: bench.plane.wallNow())
        let answer = try #require(bench.plane.consoleSession(Self.request(.post, Self.path, headers)))
        #expect(answer.status == .forbidden)
        #expect(answer.headers["Set-Cookie"] == nil)
    }

    /// As nginx does unless it is told otherwise: it names the server that it passes the request to.
    @Test func `who signed for another Host is told of it`() throws {
        let bench = try Self.bench()
        var headers = try Self.signed(at: bench.plane.wallNow())
        headers["Host"] = "127.0.0.1:9000"
        let answer = try #require(bench.plane.consoleSession(Self.request(.post, Self.path, headers)))
        #expect(answer.status == .forbidden && answer.headers["x-amzn-ErrorType"] == "InvalidSignatureException")
        #expect(try JSONValue(parsing: answer.body)["message"]?.string?.contains("keeps Host") == true)
    }

    @Test(arguments: [
        ("Origin", "http://attacker.example"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ("Host", "attacker.example"),
    ])
    func `a cookie is worth nothing to other origins`(_ field: String, _ value: String) throws {
        let bench = try Self.bench()
        let (cookie, token) = try Self.signIn(bench)
        var headers: HTTPHeaders = ["Cookie": cookie, "X-Stagedoor-CSRF": token]
        headers[field] = value
        let refusal = bench.plane.refusal(of: try Self.request(.post, "/v1/drain", headers), for: .getDrain)
        #expect(refusal?.status == .forbidden)
    }

    @Test func `a key that is gone, or signing out, ends the session`() throws {
        let bench = try Self.bench()
        let (cookie, token) = try Self.signIn(bench)
        let asked = try Self.request(.get, "/v1/overview", ["Cookie": cookie])
        var settings = ControlPlaneSettings(
            names: .init(), endpoints: .init(events: "", whip: "", rtmp: "", rtmps: ""), accessKeys: [])
        bench.plane.apply(settings)
        #expect(bench.plane.refusal(of: asked, for: .getDrain)?.status == .forbidden)
        settings.accessKeys = [.init(id: "AKIDEXAMPLE", secret: Secret("secret"))]
        bench.plane.apply(settings)
        #expect(bench.plane.refusal(of: asked, for: .getDrain) == nil)
        settings.accessKeys = [.init(id: "AKIDEXAMPLE", secret: Secret("another"))]
        bench.plane.apply(settings)
        #expect(bench.plane.refusal(of: asked, for: .getDrain)?.status == .forbidden, "the secret was replaced")
        settings.accessKeys = [.init(id: "AKIDEXAMPLE", secret: Secret("secret"))]
        bench.plane.apply(settings)
        _ = bench.plane.consoleSession(try Self.request(.delete, Self.path, ["Cookie": cookie, "X-Stagedoor-CSRF": token]))
        #expect(bench.plane.refusal(of: asked, for: .getDrain)?.status == .forbidden)
    }

    @Test func `what goes on after its answer stands as long as its key does`() throws {
        let bench = try Self.bench()
        let (cookie, _) = try Self.signIn(bench)
        let isAdmitted = bench.plane.standing(of: try Self.request(.get, "/v1/events", ["Cookie": cookie]), for: .getEvents)
        #expect(isAdmitted())
        #expect(!bench.plane.standing(of: try Self.request(.get, "/v1/events"), for: .getEvents)())
        var settings = ControlPlaneSettings(
            names: .init(), endpoints: .init(events: "", whip: "", rtmp: "", rtmps: ""), accessKeys: [])
        bench.plane.apply(settings)
        #expect(!isAdmitted())
        for (secret, denied, stands) in [
            ("secret", "ivs:*", true), ("another", "ivs:*", false), ("secret", "stagedoor:*", false),
        ] {
            settings.accessKeys = [.init(id: "AKIDEXAMPLE", secret: Secret(secret))]
            settings.accessKeys[0].deny = [ActionPattern(denied)].compactMap { $0 }
            bench.plane.apply(settings)
            #expect(isAdmitted() == stands, "\(secret) \(denied)")
        }
    }

    @Test func `what goes on after its answer ends with the session that it came by`() throws {
        let bench = try Self.bench()
        let (cookie, token) = try Self.signIn(bench)
        let (other, _) = try Self.signIn(bench)
        func standing(_ headers: HTTPHeaders) throws -> () -> Bool {
            bench.plane.standing(of: try Self.request(.post, Self.path, headers), for: .getEvents)
        }
        let readers = [
            try standing(["Cookie": cookie]), try standing(["Cookie": other]),
            try standing(Self.signed(at: bench.plane.wallNow())),
        ]
        #expect(readers.map { $0() } == [true, true, true])
        _ = bench.plane.consoleSession(try Self.request(.delete, Self.path, ["Cookie": cookie, "X-Stagedoor-CSRF": token]))
        #expect(readers.map { $0() } == [false, true, true])
        // As many as a key may have: the oldest of them make room.
        for _ in 0..<ConsoleSessions.maximumCountOfKey { _ = try Self.signIn(bench) }
        #expect(readers.map { $0() } == [false, false, true])
    }

    @Test func `a read-only key reads and changes nothing`() throws {
        let bench = try Self.bench {
            $0.accessKeys[0].readOnly = true
        }
        let (cookie, token) = try Self.signIn(bench)
        let request = try Self.request(.post, "/v1/drain", ["Cookie": cookie, "X-Stagedoor-CSRF": token])
        #expect(bench.plane.refusal(of: request, for: .getDrain) == nil)
        #expect(bench.plane.refusal(of: request, for: .startDrain)?.status == .forbidden)
    }

    @Test func `the page is told what the key may do everywhere`() throws {
        let bench = try Self.bench {
            $0.accessKeys[0].allow = [ActionPattern("ivs:*"), ActionPattern("stagedoor:GetOverview")].compactMap { $0 }
            $0.accessKeys[0].deny = [ActionPattern("ivs:Delete*")].compactMap { $0 }
        }
        let (cookie, _) = try Self.signIn(bench)
        func actions() throws -> Set<String> {
            let answer = try #require(bench.plane.consoleSession(Self.request(.get, Self.path, ["Cookie": cookie])))
            return Set(try JSONValue(parsing: answer.body)["actions"]?.array?.compactMap(\.string) ?? [])
        }
        #expect(try actions().isSuperset(of: ["ivs:CreateStage", "ivs:GetStage", "stagedoor:GetOverview"]))
        #expect(try actions().isDisjoint(with: ["ivs:DeleteStage", "stagedoor:StartDrain", "cloudwatch:ListMetrics"]))
        var settings = ControlPlaneSettings(
            names: .init(), endpoints: .init(events: "", whip: "", rtmp: "", rtmps: ""),
            accessKeys: [.init(id: "AKIDEXAMPLE", secret: Secret("secret"))])
        settings.accessKeys[0].resources = [StagePattern("arn:*")].compactMap { $0 }
        bench.plane.apply(settings)
        #expect(try actions().isEmpty, "of a key for single stages nothing is offered on the page of all")
    }

    @Test func `sessions end by themselves and are bounded`() {
        var sessions = ConsoleSessions()
        let now = WallTime(secondsSince1970: 1_000)
        func request(_ cookie: String) -> HTTPRequest {
            let target = HTTPRequestTarget("/")!
            return HTTPRequest(
                method: .get, target: target, rawTarget: "/", headers: ["Cookie": "stagedoor_console=\(cookie)"], body: [])
        }
        func key(_ id: String) -> AccessKeySettings { AccessKeySettings(id: id, secret: Secret("secret")) }
        let first = sessions.begin(for: key("a"), now: now).cookie
        #expect(sessions.session(of: request(first), now: now) != nil)
        #expect(sessions.session(of: request(first), now: now + ConsoleSessions.lifetime) == nil)
        for second in 1..<ConsoleSessions.maximumCountOfKey {
            _ = sessions.begin(for: key("a"), now: now + .seconds(second))
        }
        let others = (0..<20).map { sessions.begin(for: key("b"), now: now + .seconds($0)).cookie }
        #expect(sessions.session(of: request(first), now: now) != nil, "another key's sign-ins end none of this one's")
        #expect(others.count { sessions.session(of: request($0), now: now) != nil } == ConsoleSessions.maximumCountOfKey)
        _ = sessions.begin(for: key("a"), now: now + .seconds(100))
        #expect(sessions.session(of: request(first), now: now) == nil)
        for number in 0..<ConsoleSessions.maximumCount { _ = sessions.begin(for: key("\(number)"), now: now + .seconds(200)) }
        #expect(others.allSatisfy { sessions.session(of: request($0), now: now) == nil })
    }
}
