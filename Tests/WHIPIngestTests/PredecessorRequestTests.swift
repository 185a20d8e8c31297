import EventLoop
import HTTP
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("Requests for sessions of the process before", .timeLimit(.minutes(10)))
struct PredecessorRequestTests {
    private let passed = Lock<[HTTPRequest]>([])
    private let old: TestGateway
    private let new: TestGateway

    init() throws {
        let key = Secret("handed over")
        old = try TestGateway { ($0.generation, $0.sessionKey) = (0, key) }
        new = try TestGateway(predecessor: passed) { ($0.generation, $0.sessionKey) = (1, key) }
    }

    @Test func `those of the session's token are passed on, as they came`() throws {
        defer { stop() }
        let session = try #require(old.post(EndpointTests.offer, token: "alice").headers["Location"])
        let headers: HTTPHeaders = ["Authorization": "Bearer alice", "If-Match": "*"]
        let body = [UInt8](repeating: 0xFF, count: 65_536)
        #expect(new.request(.patch, session, headers: headers, body: body).status == .noContent)
        #expect(passed.withLock { $0.map(\.path) } == [session])
        #expect(passed.withLock { $0.first?.body } == body)
    }

    @Test func `strangers, and what is too long, get no further than the door`() throws {
        defer { stop() }
        let session = try #require(old.post(EndpointTests.offer, token: "alice").headers["Location"])
        func patch(_ path: String, _ token: String?, _ count: Int) -> HTTPResponse {
            let headers: HTTPHeaders = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
            return new.request(.patch, path, headers: headers, body: [UInt8](repeating: 0xFF, count: count))
        }
        #expect(patch("/whip/sessions/n1-0-0", nil, 24_576).status == .unauthorized)
        #expect(patch("/whip/sessions/n1-0-0", "alice", 24_576).status == .notFound)
        #expect(patch(session, nil, 24_576).status == .unauthorized)
        #expect(patch(session, "mallory", 24_576).status == .forbidden)
        let long = patch(session, "alice", 65_537)
        #expect(long.status == 413)
        #expect(String(decoding: long.body, as: UTF8.self).contains("SD-1122"))
        #expect(passed.withLock { $0.isEmpty })
    }

    /// OBS ends the association, and with it the old process's last stream, before it sends its DELETE.
    @Test func `DELETE of a session whose process is gone is answered as of one that has ended`() throws {
        defer { stop() }
        let alone = try TestGateway { ($0.generation, $0.sessionKey) = (2, Secret("handed over")) }
        defer { alone.stop() }
        let session = try #require(old.post(EndpointTests.offer, token: "alice").headers["Location"])
        func answer(_ method: HTTPMethod, _ token: String) -> HTTPResponse {
            alone.request(method, session, headers: ["Authorization": "Bearer \(token)"])
        }
        #expect(answer(.delete, "alice").status == .ok)
        #expect(answer(.delete, "mallory").status == .forbidden)
        #expect(answer(.patch, "alice").status == .notFound)
        let later = try #require(alone.post(EndpointTests.offer, token: "alice").headers["Location"])
        let early = old.request(.delete, later, headers: ["Authorization": "Bearer alice"])
        #expect(early.status == .notFound, "of one that took this one's place, which may live")
    }

    @Test func `a source has one rate, wherever its sessions are`() throws {
        defer { stop() }
        let session = try #require(old.post(EndpointTests.offer, token: "alice").headers["Location"])
        let headers: HTTPHeaders = ["Authorization": "Bearer mallory"]
        let request = TestGateway.made(.patch, session, headers: headers, from: "198.51.100.7:1")
        let statuses = new.answers(to: Array(repeating: request, count: 400)).map(\.status.code)
        #expect(Set(statuses) == [403, 429])
    }

    private func stop() {
        old.stop()
        new.stop()
    }
}
