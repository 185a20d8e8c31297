import EventLoop
import HTTPClient
import Settings
import Testing
import Wire

@testable import RouterForwarding

@Suite("Requests to routers, in line", .timeLimit(.minutes(10)))
struct RequestLineTests {
    /// Those that were never sent would count as unanswered, and their router as dead.
    @Test func `more requests than may be under way at once wait for each other, and all are answered`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let client = HTTPClient(loop: loop, capacity: 2)
        let http = RouterHTTPClient(client, router: "r")
        var (statuses, most): ([Int?], Int) = ([], 0)
        for _ in 0..<20 {
            http.send(RouterRequest(method: "GET", url: router.url + "/healthz"), deadline: .seconds(60)) { response in
                statuses.append(response?.status)
                most = max(most, client.requestCount)
            }
        }
        #expect(loop.run(until: { statuses.count == 20 }, within: .seconds(120)))
        #expect(statuses.allSatisfy { $0 == 200 } && most <= 2)
    }

    /// A lease would end while it waits behind announces.
    @Test func `what is urgent goes before all that wait`() throws {
        let router = try ExampleRouter()
        let loop = try EventLoop()
        let http = RouterHTTPClient(HTTPClient(loop: loop, capacity: 1), router: "r")
        var answered: [Int] = []
        for number in 0..<5 {
            let request = RouterRequest(method: "GET", url: router.url + "/healthz", isUrgent: number == 4)
            http.send(request, deadline: .seconds(60)) { _ in answered.append(number) }
        }
        #expect(loop.run(until: { answered.count == 5 }, within: .seconds(120)))
        #expect(answered == [0, 4, 1, 2, 3])
    }

    /// Its stages are announced elsewhere while the announces that it does not answer still wait.
    @Test func `a router that hangs holds up no other's requests`() throws {
        let (hanging, living) = try (ExampleRouter(), ExampleRouter())
        hanging.hang()
        let loop = try EventLoop()
        let drivers = RouterDrivers(
            loop: loop, gatewayID: "g", ownListeners: [], ownership: MountpointOwnership(key: Secret("")),
            isOnlyProcess: { true })
        func request(to router: ExampleRouter) -> RouterRequest { RouterRequest(method: "GET", url: router.url + "/healthz") }
        let waiting = drivers.client(of: "hanging", RouterSettings())
        for _ in 0..<2 * HTTPClient.maximumRequests { waiting.send(request(to: hanging), deadline: .seconds(300)) { _ in } }
        let http = drivers.client(of: "living", RouterSettings())
        var status: Int?
        http.send(request(to: living), deadline: .seconds(60)) { status = $0?.status }
        #expect(loop.run(until: { status != nil }, within: .seconds(120)))
        #expect(status == 200)
    }
}
