import EventLoop
import HTTP
import HTTPClient
import HTTPServer
import Testing
import Wire

@testable import RouterForwarding

@Suite("Requests to routers, in words", .timeLimit(.minutes(10)))
struct RouterHTTPClientTests {
    /// As where its token is wrong, or its URL: it counts as dead, and nothing else would say why.
    @Test func `a health check that is refused is told by its status`() throws {
        let loop = try EventLoop()
        let configuration = HTTPServerConfiguration(
            requestTimeout: .seconds(60), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10, maximumConnections: 10,
            maximumConnectionsPerAddress: 10)
        var isWell = false
        let server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
            exchange.respond(HTTPResponse(request.method == .post ? .conflict : isWell ? .ok : .unauthorized))
        }
        let address = try server.listen(on: SocketAddress(.loopback, port: 0))
        let http = RouterHTTPClient(HTTPClient(loop: loop), router: "r")
        func ask(_ method: String) -> Int? {
            var status: Int?
            http.send(RouterRequest(method: method, url: "http://\(address)/"), deadline: .seconds(60)) { status = $0?.status }
            _ = loop.run(until: { status != nil }, within: .seconds(120))
            return status
        }
        #expect(ask("POST") == 409)
        #expect(http.fault == nil, "what that means is the announce's to say")
        #expect(ask("GET") == 401)
        #expect(http.fault == "its health check is answered by 401")
        #expect(ask("POST") == 409)
        #expect(http.fault != nil, "it is not told again with each health check after something else")
        isWell = true
        #expect(ask("GET") == 200)
        #expect(http.fault == nil)
        withExtendedLifetime(server) {}
    }
}
