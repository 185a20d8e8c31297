import EventLoop
import HTTPClient
import Testing
import Wire

@testable import RouterForwarding

/// Makes of the example router's answer one that takes the lower layer paused.
private final class PausingHTTP: RouterHTTP {
    private let http: any RouterHTTP

    init(_ http: any RouterHTTP) { self.http = http }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        http.send(request, deadline: deadline) { response in
            var response = response
            let body = response.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
            response?.body = Array(body.replacing("a=simulcast:recv hi;low", with: "a=simulcast:recv hi;~low").utf8)
            reply(response)
        }
    }
}

/// Reaches the router from another address of ours, and keeps what is announced.
private final class DistantHTTP: RouterHTTP {
    private let http: any RouterHTTP
    private(set) var announces: [String] = []

    init(_ http: any RouterHTTP) { self.http = http }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        if request.method == "POST" { announces.append(String(decoding: request.body, as: UTF8.self)) }
        http.send(request, deadline: deadline) { response in
            var response = response
            response?.ownAddress = IPAddress("198.51.100.7")
            reply(response)
        }
    }
}

@Suite("Check of a router", .serialized, .timeLimit(.minutes(10)))
struct RouterConformanceTests {
    @Test func `the example router keeps every rule`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let check = RouterConformance(
            loop: loop, url: router.url, media: [IPNetwork("127.0.0.1")!],
            http: RouterHTTPClient(HTTPClient(loop: loop), router: "r"))
        let isConformant = try check.run()
        #expect(check.findings.filter { !$0.isMet }.isEmpty)
        #expect(isConformant && check.findings.count == 18)
    }

    @Test func `a router that takes a layer paused is not asked for reports about it`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let check = RouterConformance(
            loop: loop, url: router.url, media: [IPNetwork("127.0.0.1")!],
            http: PausingHTTP(RouterHTTPClient(HTTPClient(loop: loop), router: "r")))
        #expect(try check.run(), "\(check.findings.filter { !$0.isMet })")
    }

    /// Routers may take media from nowhere else.
    @Test func `the offer names the address from which the router is reached`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let http = DistantHTTP(RouterHTTPClient(HTTPClient(loop: loop), router: "r"))
        let check = RouterConformance(loop: loop, url: router.url, media: [IPNetwork("127.0.0.1")!], http: http)
        _ = try check.run()
        #expect(http.announces.first?.contains("c=IN IP4 198.51.100.7") == true)
    }

    @Test func `a router that answers nothing keeps none`() throws {
        let router = try ExampleRouter()
        router.kill()
        let loop = try EventLoop()
        let check = RouterConformance(
            loop: loop, url: router.url, media: [IPNetwork("127.0.0.1")!],
            http: RouterHTTPClient(HTTPClient(loop: loop), router: "r"))
        #expect(try !check.run())
        #expect(check.findings.map(\.isMet) == [false, false])
    }
}
