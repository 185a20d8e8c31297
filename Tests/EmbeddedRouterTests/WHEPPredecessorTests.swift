import TestSupport
import Testing
import WebRTCTransport
import Wire

@testable import EmbeddedRouter

@Suite("WHEP requests for sessions of the process before us", .timeLimit(.minutes(10)))
struct WHEPPredecessorTests {
    private let old: WHEPSite
    private let new: WHEPSite

    init() throws {
        let key = Secret("handed over")
        old = try WHEPSite { ($0.generation, $0.sessionKey) = (0, key) }
        new = try WHEPSite { ($0.generation, $0.sessionKey) = (1, key) }
    }

    private func answer(_ method: String, _ path: String = "", body: String = "", token: String? = "good") throws -> String {
        let line = "\(method) /whep/sessions/\(old.entry.transport.id)\(path)"
        let client = try new.ask(line, body: body, token: token)
        try #require(new.wait { client.isClosed })
        return client.text
    }

    @Test func `are answered there, as if they had come there`() throws {
        #expect(try answer("DELETE").hasPrefix("HTTP/1.1 404 "), "there is none before us")
        new.predecessor = old
        for method in ["GET", "HEAD"] { #expect(try answer(method, "/layer").hasPrefix("HTTP/1.1 200 ")) }
        #expect(try answer("POST", "/layer", body: "[]").hasPrefix("HTTP/1.1 422 "))
        #expect(try answer("DELETE").hasPrefix("HTTP/1.1 200 "))
        #expect(old.entry.transport.ownership == .ended)
        #expect(try answer("DELETE").hasPrefix("HTTP/1.1 404 "))
    }

    @Test func `go no further than the door, when they are strangers'`() throws {
        new.predecessor = old
        #expect(try answer("DELETE", token: nil).hasPrefix("HTTP/1.1 401 "))
        #expect(try answer("DELETE", token: "bad").hasPrefix("HTTP/1.1 403 "))
        #expect(old.entry.transport.ownership != .ended && new.entry.transport.ownership != .ended)
    }
}
