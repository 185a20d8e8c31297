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
        let endpoints = HealthEndpoints(loops: LoopHealth()) {
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

    @Test func `a loop that is stuck in a turn is named, one that waits is not`() throws {
        let loop = try EventLoop()
        let loops = LoopHealth()
        loops.join(loop, name: "worker-0")
        #expect(loops.names == ["worker-0"])
        #expect(loops.stuck(at: EventLoop.monotonicNow() + .seconds(60)).isEmpty, "nothing has happened yet")
        var stuck: [[String]] = []
        let timer = loop.schedule(after: .milliseconds(1)) { [unowned loop] in
            stuck = [loops.stuck(at: loop.now + .seconds(1)), loops.stuck(at: loop.now + .seconds(3))]
        }
        #expect(loop.run(until: { !stuck.isEmpty }, within: .seconds(60)))
        #expect(stuck == [[], ["worker-0"]])
        #expect(loops.stuck(at: EventLoop.monotonicNow() + .seconds(60)).isEmpty, "the turn is over")
        timer.cancel()
    }
}
