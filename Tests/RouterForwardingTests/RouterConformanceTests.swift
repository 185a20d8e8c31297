import EventLoop
import HTTPClient
import Testing
import Wire

@testable import RouterForwarding

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
        #expect(isConformant && check.findings.count == 17)
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
