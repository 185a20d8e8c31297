import Admission
import EventLoop
import Foundation
import HTTP
import JSON
import Monitoring
import Refusals
import SDP
import Settings
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

/// Numbers are those of the project's list of what RFC 9725 demands, as Tests/Interop/Clients/whip_conformance.py prints them.
@Suite("WHIP resources (RFC 9725 §4)", .timeLimit(.minutes(10)))
struct EndpointTests {
    static let offer = String(decoding: OfferFixture.named("obs-32.2.2-ldc0.21.0").body, as: UTF8.self)

    @Test func `1: POST answers 201 with SDP, Location, ETag and the exposed headers`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let response = gateway.post(Self.offer, token: "alice")
        #expect(response.status == .created)
        #expect(response.headers["Content-Type"] == "application/sdp")
        let location = try #require(response.headers["Location"])
        #expect(location.hasPrefix("/whip/sessions/n1-0-") && location.utf8.count >= 20 + 32)
        #expect(response.headers["ETag"]?.wholeMatch(of: /"[0-9a-f]{16}"/) != nil)
        #expect(response.headers["Access-Control-Expose-Headers"]?.contains("Location") == true)
        #expect(try SessionDescription(parsing: response.body, endings: .crlf).media.count == 2)
    }

    @Test func `of what an encoder calls itself 256 bytes are kept, however few characters they are`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let headers: HTTPHeaders = [
            "Content-Type": "application/sdp", "Authorization": "Bearer alice",
            "User-Agent": "ee" + String(repeating: "\u{301}", count: 5_000),
        ]
        let created = gateway.request(.post, "/whip", headers: headers, body: Array(Self.offer.utf8))
        let location = try #require(created.headers["Location"])
        let entry = try #require(gateway.context.directory.entry(id: String(location.dropFirst("/whip/sessions/".count))))
        #expect(entry.userAgent.utf8.count == 256)
    }

    @Test func `a session does not keep its token`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        #expect(gateway.post(Self.offer, token: "alice").status == .created)
        let entry = try #require(gateway.context.directory.pendingEntries.first)
        guard case .token(let token) = entry.request.credential else {
            Issue.record("no token's session")
            return
        }
        #expect(token.isEmpty)
    }

    @Test func `Location has what a proxy took off the path`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let headers: HTTPHeaders = ["Content-Type": "application/sdp", "Authorization": "Bearer alice"]
        let created = gateway.request(.post, "/whip", headers: headers, body: Array(Self.offer.utf8), behind: "/ingest")
        let location = try #require(created.headers["Location"])
        #expect(location.hasPrefix("/ingest/whip/sessions/n1-0-"))
        let path = String(location.dropFirst("/ingest".count))
        #expect(gateway.request(.delete, path, headers: ["Authorization": "Bearer alice"], behind: "/ingest").status == .ok)
    }

    @Test func `POST to the root is the same endpoint`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let headers: HTTPHeaders = ["content-type": "Application/SDP; charset=utf-8", "authorization": "bearer alice"]
        #expect(gateway.request(.post, "/", headers: headers, body: Array(Self.offer.utf8)).status == .created)
    }

    /// Headers and body of a POST, and what it comes to.
    static let refusals: [(String, HTTPHeaders, [UInt8], Int)] = [
        ("2: another type", ["Content-Type": "text/plain", "Authorization": "Bearer a"], Array(offer.utf8), 415),
        ("2: no type", ["Authorization": "Bearer a"], Array(offer.utf8), 415),
        ("2: no SDP", ["Content-Type": "application/sdp", "Authorization": "Bearer a"], Array("hello".utf8), 400),
        ("2: empty", ["Content-Type": "application/sdp", "Authorization": "Bearer a"], [], 400),
        (
            "2: bare LF", ["Content-Type": "application/sdp", "Authorization": "Bearer a"],
            Array(offer.replacing("\r\n", with: "\n").utf8), 400
        ),
        ("2: NUL", ["Content-Type": "application/sdp", "Authorization": "Bearer a"], Array(offer.utf8) + [0], 400),
        (
            "3: too large", ["Content-Type": "application/sdp", "Authorization": "Bearer a"],
            [UInt8](repeating: 97, count: 65_537), 413
        ),
        (
            "4: recvonly", ["Content-Type": "application/sdp", "Authorization": "Bearer a"],
            Array(offer.replacing("sendonly", with: "recvonly").utf8), 422
        ),
        ("32: no token", ["Content-Type": "application/sdp"], Array(offer.utf8), 401),
        ("32: bad token", ["Content-Type": "application/sdp", "Authorization": "Bearer bad"], Array(offer.utf8), 401),
        ("32: another scheme", ["Content-Type": "application/sdp", "Authorization": "Basic YTpi"], Array(offer.utf8), 401),
        ("32: the scheme alone", ["Content-Type": "application/sdp", "Authorization": "Bearer"], Array(offer.utf8), 401),
        ("32: two words", ["Content-Type": "application/sdp", "Authorization": "Bearer a b"], Array(offer.utf8), 401),
    ]

    @Test(arguments: refusals.indices)
    func `refuses with the status of the check-list, as a problem document`(_ index: Int) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let (name, headers, body, status) = Self.refusals[index]
        let response = gateway.request(.post, "/whip", headers: headers, body: body)
        #expect(response.status.code == status, "\(name)")
        #expect(response.headers["Content-Type"] == "application/problem+json", "\(name)")
        #expect(response.reason?.wholeMatch(of: /SD-\d{4}: .+/) != nil, "\(name)")
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        #expect(status != 415 || response.headers["Accept-Post"] == "application/sdp")
        #expect(status != 401 || response.headers["WWW-Authenticate"]?.hasPrefix("Bearer realm=") == true)
        // No error is named to who shows no token (RFC 6750 §3.1).
        let namesError = response.headers["WWW-Authenticate"]?.contains(#"error="invalid_token", error_description=""#) == true
        #expect(namesError == (name == "32: bad token"), "\(name)")
        #expect(gateway.leases.liveCount == 0 && gateway.context.directory.count == 0)
    }

    @Test func `an offer at another server's path is told ours, and the console has it`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let headers: HTTPHeaders = ["Content-Type": "application/sdp", "Authorization": "Bearer alice"]
        let response = gateway.request(.post, "/live/whip", headers: headers, body: Array(Self.offer.utf8))
        #expect(response.status == .notFound)
        #expect(response.reason?.hasPrefix("SD-1137: WHIP is served at /whip") == true)
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        #expect(gateway.board.refused.map(\.refusal.code) == [.unknownEndpoint])
        // Players and those without an offer look for something else.
        #expect(gateway.request(.post, "/whep/stage", headers: headers, body: Array(Self.offer.utf8)).reason == nil)
        #expect(gateway.request(.post, "/live/whip", headers: ["Content-Type": "text/plain"]).reason == nil)
        #expect(gateway.board.refused.count == 1)
    }

    @Test func `the console has an encoder without a token, not one who sends no offer`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        _ = gateway.request(.post, "/whip", headers: ["Content-Type": "text/plain"], body: Array(Self.offer.utf8))
        _ = gateway.request(.post, "/whip", headers: ["Content-Type": "application/sdp"], body: Array(Self.offer.utf8))
        #expect(gateway.board.refused.map(\.refusal.code) == [.missingToken])
    }

    @Test(arguments: ["alice", "bearer  alice", "Bearer Bearer alice"])
    func `32: a token is taken without the word Bearer, and where that was typed too`(credentials: String) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let headers: HTTPHeaders = ["Content-Type": "application/sdp", "Authorization": credentials]
        #expect(gateway.request(.post, "/whip", headers: headers, body: Array(Self.offer.utf8)).status == .created)
    }

    @Test func `16, 17: GET is empty success, other methods are 405 with Allow, OPTIONS needs no token`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        for endpoint in ["/whip", "/whip/", "/"] {
            #expect(gateway.request(.get, endpoint).status == .noContent && gateway.request(.head, endpoint).status == .noContent)
            #expect(gateway.request(.put, endpoint).status == .methodNotAllowed)
        }
        #expect(gateway.request(.head, "/whip/sessions/x").status == .noContent)
        let put = gateway.request(.put, "/whip")
        #expect(put.status == .methodNotAllowed && put.headers["Allow"] == "OPTIONS, GET, HEAD, POST")
        let preflight = gateway.request(
            .options, "/whip", headers: ["Origin": "https://example.com", "Access-Control-Request-Method": "POST"])
        #expect(preflight.status == .ok && preflight.headers["Accept-Post"] == "application/sdp")
        #expect(preflight.headers["Access-Control-Allow-Methods"] == "OPTIONS, GET, POST, PATCH, DELETE")
        #expect(preflight.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type, If-Match, Link")
        #expect(gateway.request(.get, "/elsewhere").status == .notFound)
    }

    @Test func `15: one Link per ICE server, on the 201 and on OPTIONS that is no preflight`() throws {
        let gateway = try TestGateway {
            $0.whip.iceServers = ["stun:stun.example.com", "turn:turn.example.com?transport=udp"]
            $0.whip.turnSecret = Secret("s")
        }
        defer { gateway.stop() }
        let links = gateway.post(Self.offer, token: "alice").headers.values(of: "Link")
        #expect(links.count == 2 && links[0] == "<stun:stun.example.com>; rel=\"ice-server\"")
        let turn =
            #/<turn:turn\.example\.com\?transport=udp>; rel="ice-server"; username="\d+:[0-9a-f]{8}"; credential="[A-Za-z0-9+\/=]+"; credential-type="password"/#
        #expect(links[1].wholeMatch(of: turn) != nil, "\(links[1])")
        #expect(!links[1].contains(","))
        // OPTIONS shows no token and gets no credentials.
        #expect(gateway.request(.options, "/whip").headers.values(of: "Link") == ["<stun:stun.example.com>; rel=\"ice-server\""])
        #expect(gateway.request(.options, "/whip", headers: ["Access-Control-Request-Method": "POST"]).headers["Link"] == nil)
    }

    static let trickle =
        "a=ice-ufrag:hTxo\r\na=ice-pwd:5c9KRvHSgR5Ts0kGos2q4k\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n"
        + "a=candidate:1 1 udp 2130706431 0b1c8aa4.local 48840 typ host\r\na=end-of-candidates\r\n"
    static let restart = "a=ice-ufrag:other\r\na=ice-pwd:9876543210987654321098\r\n"

    /// Type, If-Match, body, strictness, and what a PATCH comes to; `*ETag*` stands for the session's.
    static let patches: [(String, String, String?, String, Bool, Int)] = [
        ("18: wrong type", "text/plain", "*ETag*", trickle, false, 415),
        ("18: malformed", "application/trickle-ice-sdpfrag", "*ETag*", "hello", false, 400),
        ("21: missing If-Match, strict", "application/trickle-ice-sdpfrag", nil, trickle, true, 428),
        ("21: missing If-Match, lenient", "application/trickle-ice-sdpfrag", nil, trickle, false, 204),
        ("21: stale ETag", "application/trickle-ice-sdpfrag", "\"0000\"", trickle, false, 412),
        ("22: trickle", "application/trickle-ice-sdpfrag", "*ETag*", trickle, true, 204),
        ("22: end of candidates alone", "application/trickle-ice-sdpfrag", "*ETag*", "a=end-of-candidates\r\n", true, 204),
        ("23: restart", "application/trickle-ice-sdpfrag", "*", restart, true, 200),
        ("23: restart, as the RFC's example has it", "application/trickle-ice-sdpfrag", "\"*\"", restart, true, 200),
        ("24: restart without password", "application/trickle-ice-sdpfrag", "*", "a=ice-ufrag:other\r\n", true, 400),
    ]

    @Test(arguments: patches.indices)
    func `18 to 26: PATCH trickles and restarts under ETags`(_ index: Int) throws {
        let (name, type, tag, body, isStrict, status) = Self.patches[index]
        let gateway = try TestGateway { $0.whip.strictETags = isStrict }
        defer { gateway.stop() }
        let created = gateway.post(Self.offer, token: "alice")
        let (location, etag) = (created.headers["Location"] ?? "", created.headers["ETag"] ?? "")
        var headers: HTTPHeaders = ["Content-Type": type, "Authorization": "Bearer alice"]
        headers["If-Match"] = tag == "*ETag*" ? etag : tag
        let response = gateway.request(.patch, location, headers: headers, body: Array(body.utf8))
        #expect(response.status.code == status, "\(name)")
        let number = [400: 1_127, 412: 1_126, 415: 1_121, 428: 1_125][status]
        #expect(number.map { response.reason?.hasPrefix("SD-\($0): ") == true } ?? (response.reason == nil), "\(name)")
        #expect(status != 415 || response.headers["Accept-Patch"] == "application/trickle-ice-sdpfrag", "\(name)")
        if status == 204 { #expect(response.headers["ETag"] == nil && response.body.isEmpty) }
        guard status == 200 else { return }
        #expect(response.headers["ETag"] != nil && response.headers["ETag"] != etag)
        let fragment = try SDPFragment(parsing: response.body, endings: .crlf)
        #expect(fragment.iceUfrag?.utf8.count == 8 && fragment.isEndOfCandidates && !fragment.candidates.isEmpty)
        // 25: the ETag of the ICE session before is stale now.
        headers["If-Match"] = etag
        #expect(gateway.request(.patch, location, headers: headers, body: Array(Self.restart.utf8)).status == .preconditionFailed)
    }

    /// As react-native-whip-whep 0.7.1 writes one, without its token.
    static let jsonCandidate =
        #"{"candidate":"candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 0.0.0.0 rport 0 generation 0 "#
        + #"ufrag 4ZcD network-id 1","sdpMLineIndex":0,"sdpMid":"0","usernameFragment":"4ZcD"}"#

    @Test func `18: a candidate as JSON is no fragment, with a token or without: at a 401 its client would give up`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let location = gateway.post(Self.offer, token: "alice").headers["Location"] ?? ""
        for token in [nil, "Bearer alice"] {
            var headers: HTTPHeaders = ["Content-Type": "application/trickle-ice-sdpfrag"]
            headers["Authorization"] = token
            let response = gateway.request(.patch, location, headers: headers, body: Array(Self.jsonCandidate.utf8))
            #expect(response.status.code == 400 && response.reason?.hasPrefix("SD-1127: ") == true)
        }
        #expect(gateway.request(.patch, location, body: Array(Self.trickle.utf8)).status == .unauthorized)
    }

    @Test func `32: a token that came by the Basic scheme is told so`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        // esp-webrtc-solution's default.
        let headers: HTTPHeaders = ["Content-Type": "application/sdp", "Authorization": "Basic dXNlcm5hbWU6cGFzc3dvcmQ="]
        let response = gateway.request(.post, "/whip", headers: headers, body: Array(Self.offer.utf8))
        #expect(response.status == .unauthorized && response.headers["WWW-Authenticate"] == #"Bearer realm="stagedoor""#)
        #expect(response.reason?.hasPrefix("SD-1120: The token came by the Basic scheme") == true)
    }

    @Test func `27, 31: DELETE answers 200 whatever If-Match says, and wants the session's own token`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let location = gateway.post(Self.offer, token: "alice").headers["Location"] ?? ""
        #expect(gateway.request(.delete, location).status == .unauthorized)
        let foreign = gateway.request(.delete, location, headers: ["Authorization": "Bearer mallory"])
        #expect(foreign.status == .forbidden && foreign.reason?.hasPrefix("SD-1124: ") == true)
        #expect(foreign.headers["WWW-Authenticate"] == #"Bearer realm="stagedoor", error="insufficient_scope""#)
        let headers: HTTPHeaders = ["Authorization": "Bearer alice", "If-Match": "\"wrong\""]
        #expect(gateway.request(.delete, location, headers: headers).status == .ok)
        #expect(gateway.request(.delete, location, headers: headers).status == .ok, "and says so again for a minute")
        #expect(gateway.request(.delete, location, headers: ["Authorization": "Bearer mallory"]).status == .forbidden)
        #expect(gateway.leases.liveCount == 0)
    }

    @Test func `a session that we ended tells its publisher why, and may be deleted for a minute`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let location = gateway.post(Self.offer, token: "alice").headers["Location"] ?? ""
        let id = String(location.split(separator: "/").last ?? "")
        let (own, foreign): (HTTPHeaders, HTTPHeaders) = (["Authorization": "Bearer alice"], ["Authorization": "Bearer mallory"])
        #expect(gateway.request(.get, location, headers: own).status == .noContent, "it lives")
        let entry = try #require(gateway.context.directory.entry(id: id))
        gateway.context.transport.end(entry, .refused(Refusal(.participantDisconnected)))
        #expect(eventually { gateway.context.directory.entry(id: id) == nil })
        let told = gateway.request(.get, location, headers: own)
        #expect(told.status == .ok)
        #expect(try JSONValue(parsing: told.body)["verdict"]?.string?.hasPrefix("SD-1007: ") == true)
        #expect(gateway.request(.get, location, headers: foreign).status == .noContent)
        #expect(gateway.request(.get, location).status == .noContent)
        #expect(gateway.request(.delete, location, headers: foreign).status == .forbidden)
        #expect(gateway.request(.delete, location, headers: own).status == .ok)
        let now = EventLoop.monotonicNow()
        #expect(gateway.context.directory.justFinishedEntry(id: id, at: now + .seconds(50)) != nil)
        #expect(gateway.context.directory.justFinishedEntry(id: id, at: now + .seconds(61)) == nil)
    }

    @Test func `a stage on which sessions end all the time drives out no other stage's`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let location = gateway.post(Self.offer, token: "alice@other").headers["Location"] ?? ""
        let id = String(location.split(separator: "/").last ?? "")
        #expect(gateway.request(.delete, location, headers: ["Authorization": "Bearer alice@other"]).status == .ok)
        for index in 0..<SessionDirectory.maximumFinished + 8 {
            // Each one ends the one before it, and each address has a share of requests.
            let answer = gateway.post(Self.offer, token: "mallory", from: "192.0.2.\(2 + index % 8):1000")
            #expect(answer.status == .created)
        }
        let directory = gateway.context.directory
        #expect(eventually { directory.recentlyFinished.count == SessionDirectory.maximumFinished })
        #expect(directory.recentlyFinished.contains { $0.id == id })
    }

    @Test func `whose minute is over makes way for a stage on which several sessions end at once`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        func endOne(of token: String, from source: String = "192.0.2.1:1000") -> String {
            let location = gateway.post(Self.offer, token: token, from: source).headers["Location"] ?? ""
            let answer = gateway.request(.delete, location, headers: ["Authorization": "Bearer \(token)"], from: source)
            #expect(answer.status == .ok)
            return String(location.split(separator: "/").last ?? "")
        }
        let directory = gateway.context.directory
        for index in 0..<SessionDirectory.maximumFinished {
            _ = endOne(of: "p\(index)@s\(index)", from: "192.0.2.\(2 + index % 16):1000")
        }
        #expect(eventually { directory.recentlyFinished.count == SessionDirectory.maximumFinished })
        let longAgo = EventLoop.monotonicNow() - .seconds(61)
        for entry in directory.recentlyFinished { entry.content.withLock { $0.ending = (SessionEnd.closed, longAgo) } }
        let ids = (0..<12).map { endOne(of: "p\($0)@show") }
        #expect(eventually { ids.allSatisfy { id in directory.recentlyFinished.contains { $0.id == id } } })
    }

    @Test func `a new session is told what the one before was warned of`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let told = gateway.post(Self.offer, token: RecordingHost.warned)
        #expect(told.status == .created && told.headers["Stagedoor-Warning"] == RecordingHost.warning)
        #expect(told.headers["Access-Control-Expose-Headers"]?.contains("Stagedoor-Warning") == true)
        #expect(gateway.post(Self.offer, token: "alice").headers["Stagedoor-Warning"] == nil)
    }

    @Test func `a stage holds a bounded number of sessions that wait, and one per participant`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        for index in 0..<PendingSessions.maximumPerStage {
            #expect(gateway.post(Self.offer, token: "p\(index)").status == .created)
        }
        let late = gateway.post(Self.offer, token: "late")
        #expect(late.status == .tooManyRequests && late.reason?.hasPrefix("SD-1130: ") == true)
        #expect(gateway.post(Self.offer, token: "p0").status == .created)
        #expect(gateway.context.directory.pendingCount == PendingSessions.maximumPerStage)
        #expect(gateway.post(Self.offer, token: "late@other").status == .created)
        // The same participant id on another stage is somebody else.
        #expect(gateway.post(Self.offer, token: "p1@other").status == .created)
        #expect(gateway.context.directory.pendingCount == PendingSessions.maximumPerStage + 2)
    }

    @Test func `30: too many requests from one address are answered 429 with Retry-After`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let headers: HTTPHeaders = ["Content-Type": "application/sdp", "Authorization": "Bearer a"]
        let request = TestGateway.made(.post, "/whip", headers: headers, from: "198.51.100.7:1")
        let refused = gateway.answers(to: Array(repeating: request, count: 400)).filter { $0.status.code == 429 }
        #expect(!refused.isEmpty && refused.allSatisfy { $0.headers["Retry-After"] != nil })
        #expect(refused.allSatisfy { $0.reason?.hasPrefix("SD-1129: ") == true })
        #expect(gateway.post("", token: "a", from: "198.51.100.8:1").status.code == 400)
    }

    @Test func `the publish page is served where it is on`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let page = gateway.request(.get, "/publish")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == .ok && text.contains("RTCPeerConnection"))
        #expect(!text.contains("'/whip'"), "a proxy may have put a path before it")
    }

    @Test func `the test publisher talks to its own gateway alone, and is in nobody's frame`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let policy = gateway.request(.get, "/publish").headers["Content-Security-Policy"] ?? ""
        let directives = policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(directives.contains("connect-src 'self'") && directives.contains("frame-ancestors 'none'"), "\(policy)")
        let page = String(decoding: gateway.request(.get, "/publish").body, as: UTF8.self)
        #expect(page.contains("target.origin !== location.origin"), "and says so in words")
    }
}
