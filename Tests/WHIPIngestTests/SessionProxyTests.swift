import EventLoop
import HTTP
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

/// Nodes as a test says they are.
private final class StubNeighbours: NeighbourDirectory {
    let addresses = Lock<[String: String]>([:])
    let better = Lock<String?>(nil)

    func address(ofNode node: String) -> String? { addresses.withLock { $0[node] } }
    func betterEndpoint(isSecure: Bool) -> String? { better.withLock { $0 } }
}

@Suite("WHIP sessions of other nodes", .ownThread, .timeLimit(.minutes(5)))
struct SessionProxyTests {
    private let neighbours = StubNeighbours()
    private let owner: TestGateway
    private let other: TestGateway

    init() throws {
        owner = try TestGateway { $0.node = "owner" }
        other = try TestGateway(neighbours: neighbours) { $0.node = "other" }
        neighbours.addresses.withLock { $0["owner"] = String(owner.url.dropLast("/whip".count)) }
    }

    private func location() throws -> String {
        try #require(owner.post(EndpointTests.offer, token: "alice").headers["Location"])
    }

    @Test func `a PATCH at another node is answered by the owner`() throws {
        defer { stop() }
        let session = try location()
        let fragment = "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\n"
        let response = other.request(
            .patch, session,
            headers: [
                "Content-Type": "application/trickle-ice-sdpfrag", "Authorization": "Bearer alice", "If-Match": "*",
            ], body: Array(fragment.utf8))
        #expect(response.status == .ok)
        #expect(response.headers["ETag"] != nil)
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        #expect(String(decoding: response.body, as: UTF8.self).contains("a=ice-ufrag:"))
    }

    @Test func `a DELETE at another node ends the session, for its token alone`() throws {
        defer { stop() }
        let session = try location()
        #expect(other.request(.delete, session, headers: ["Authorization": "Bearer mallory"]).status == .forbidden)
        #expect(owner.plane.directory.count == 1)
        #expect(other.request(.delete, session, headers: ["Authorization": "Bearer alice"]).status == .ok)
        #expect(other.request(.delete, session, headers: ["Authorization": "Bearer alice"]).status == .notFound)
    }

    @Test func `a request that was passed on once stays where it is`() throws {
        defer { stop() }
        let session = try location()
        let headers: HTTPHeaders = ["Authorization": "Bearer alice", "Stagedoor-Hop": "1"]
        #expect(other.request(.delete, session, headers: headers).status == .notFound)
        #expect(owner.request(.delete, session, headers: headers).status == .ok)
    }

    @Test(arguments: ["nobody-0-00", "owner/../x-0-00", "owner-0", "ow%6Eer-0-00", "-0-0"])
    func `only nodes that are alive are asked`(_ id: String) throws {
        defer { stop() }
        let response = other.request(.delete, "/whip/sessions/\(id)", headers: ["Authorization": "Bearer alice"])
        #expect(response.status == .notFound)
    }

    @Test func `a node that does not answer is told from a session that is unknown`() throws {
        defer { stop() }
        let session = try location()
        neighbours.addresses.withLock { $0["owner"] = "http://127.0.0.1:1" }
        let response = other.request(.delete, session, headers: ["Authorization": "Bearer alice"])
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["Retry-After"] != nil)
    }

    @Test func `encoders are sent on once, browsers never`() throws {
        defer { stop() }
        neighbours.better.withLock { $0 = "https://b.example/whip" }
        let response = other.post(EndpointTests.offer, token: "alice")
        #expect(response.status.code == 307)
        #expect(response.headers["Location"] == "https://b.example/whip?hop=1")
        let fields: HTTPHeaders = ["Content-Type": "application/sdp", "Authorization": "Bearer alice"]
        let body = Array(EndpointTests.offer.utf8)
        #expect(other.request(.post, "/whip?hop=1", headers: fields, body: body).status == .created)
        var browser = fields
        browser["Origin"] = "https://page.example"
        #expect(other.request(.post, "/whip", headers: browser, body: body).status == .created)
    }

    private func stop() {
        owner.stop()
        other.stop()
    }
}
