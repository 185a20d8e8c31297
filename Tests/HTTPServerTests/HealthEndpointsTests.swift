import EventLoop
import HTTP
import HTTPServer
import JSON
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("Health endpoints", .timeLimit(.minutes(10)))
struct HealthEndpointsTests {
    private func answer(_ endpoints: HealthEndpoints, _ path: String, _ method: HTTPMethod = .get) throws -> HTTPResponse {
        let target = try #require(HTTPRequestTarget(path))
        return try #require(endpoints.response(to: HTTPRequest(method: method, target: target, rawTarget: path)))
    }

    @Test func `tell what fails and what passes`() throws {
        let endpoints = HealthEndpoints(heartbeats: Heartbeats()) {
            [.init("listeners"), .init("routers", failing: "none is reachable")]
        } metrics: {
            Array("a 1\n".utf8)
        }
        let ready = try answer(endpoints, "/readyz")
        #expect(ready.status == .serviceUnavailable)
        #expect(
            try JSONValue(parsing: ready.body)
                == ["status": "failing", "failing": ["routers": "none is reachable"], "passing": ["listeners"]])
        #expect(try answer(endpoints, "/livez").status == .ok)
        #expect(try answer(endpoints, "/metrics").body == Array("a 1\n".utf8))
        #expect(try answer(endpoints, "/metrics", .post).status == .methodNotAllowed)
        #expect(endpoints.response(to: HTTPRequest(method: .get, target: HTTPRequestTarget("/x")!, rawTarget: "/x")) == nil)
    }

    @Test func `a loop that does not turn is named`() throws {
        let loop = try EventLoop()
        let heartbeats = Heartbeats()
        let beat = heartbeats.join(loop, name: "worker 0")
        let now = EventLoop.monotonicNow()
        #expect(heartbeats.stuck(at: now).isEmpty)
        #expect(heartbeats.stuck(at: now + .seconds(3)) == ["worker 0"])
        #expect(loop.run(until: { heartbeats.stuck(at: now + .milliseconds(2300)).isEmpty }, within: .seconds(60)))
        beat.cancel()
    }
}
