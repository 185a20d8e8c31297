import EventLoop
import Glibc
import HTTP
import HTTPServer
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

@Suite("WHIP sessions of other nodes", .timeLimit(.minutes(10)))
struct SessionProxyTests {
    private let neighbours = StubNeighbours()
    private let key = Secret("what all nodes have")
    private let owner: TestGateway
    private let other: TestGateway

    init() throws {
        let key = key
        owner = try TestGateway(neighbours: neighbours) { ($0.node, $0.sessionKey) = ("owner", key) }
        other = try TestGateway(neighbours: neighbours) { ($0.node, $0.sessionKey) = ("other", key) }
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
        #expect(owner.context.directory.count == 1)
        #expect(other.request(.delete, session, headers: ["Authorization": "Bearer alice"]).status == .ok)
        #expect(owner.context.directory.count == 0)
        #expect(other.request(.delete, session, headers: ["Authorization": "Bearer mallory"]).status == .forbidden)
        #expect(other.request(.delete, session, headers: ["Authorization": "Bearer alice"]).status == .ok, "it only tidies up")
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

    @Test(arguments: ["/../../../v1/drain", "%2F..%2Fx", "/", "?x", "-0", "a"])
    func `a path that is more than a session's id goes to no node`(_ more: String) throws {
        defer { stop() }
        let session = try location()
        let answer = Lock<[String]>([])
        let impostor = try PathRecorder(answer)
        defer { impostor.stop() }
        neighbours.addresses.withLock { $0["owner"] = "http://127.0.0.1:\(impostor.port)" }
        let response = other.request(.delete, session + more, headers: ["Authorization": "Bearer alice"])
        #expect(more == "?x" || response.status == .notFound)
        // What is asked for is the id's path and nothing else.
        #expect(answer.withLock { $0 } == (more == "?x" ? [session] : []))
    }

    @Test func `who has not the session's token is told so without asking its node`() throws {
        defer { stop() }
        let session = try location()
        let asked = Lock<[String]>([])
        let impostor = try PathRecorder(asked)
        defer { impostor.stop() }
        neighbours.addresses.withLock { $0["owner"] = "http://127.0.0.1:\(impostor.port)" }
        #expect(other.request(.patch, session).status == .unauthorized)
        #expect(other.request(.patch, session, headers: ["Authorization": "Bearer mallory"]).status == .forbidden)
        let guessed = session.dropLast() + (session.hasSuffix("0") ? "1" : "0")
        #expect(other.request(.patch, String(guessed), headers: ["Authorization": "Bearer alice"]).status == .forbidden)
        #expect(
            other.request(
                .patch, session, headers: ["Authorization": "Bearer alice"], body: [UInt8](repeating: 0xFF, count: 65_537)
            ).status == 413)
        #expect(asked.withLock { $0 } == [])
    }

    @Test func `encoders that one node passes on do not share a rate, and only nodes are believed whose request it is`() throws {
        defer { stop() }
        let session = try location()
        let headers: HTTPHeaders = ["Authorization": "Bearer mallory", "X-Forwarded-For": "203.0.113.9"]
        func answered(_ headers: [HTTPHeaders], from source: String) -> [Int] {
            owner.answers(to: headers.map { TestGateway.made(.patch, session, headers: $0, from: source) }).map(\.status.code)
        }
        func passed(for encoder: String, key: Secret, at now: WallTime = EventLoop.wallNow()) throws -> HTTPHeaders {
            let hop = NodeHop(passing: .patch, session, from: try #require(SocketAddress(encoder)), key: key, now: now)
            var signed = headers
            signed["Stagedoor-Hop"] = hop.value
            return signed
        }
        let node = "192.0.2.2:1000"
        let (first, second) = (try passed(for: "198.51.100.1:1", key: key), try passed(for: "198.51.100.2:1", key: key))
        // One encoder, by way of the other node, has used its rate up; a second one by the same way has its own.
        #expect(Set(answered(Array(repeating: first, count: 400), from: node)) == [403, 429])
        #expect(Set(answered(Array(repeating: second, count: 10), from: node)) == [403])
        // Who signs with another key, or said it long ago, is counted as what it is.
        let forged = try (0..<400).map { try passed(for: "198.51.101.\($0 % 250):1", key: Secret("a guess")) }
        let stale = try passed(for: "198.51.100.3:1", key: key, at: EventLoop.wallNow() + .seconds(-120))
        let ofStranger = forged + Array(repeating: headers, count: 100) + Array(repeating: stale, count: 100)
        let codes = answered(ofStranger, from: "203.0.113.5:1000")
        #expect(codes[400..<500].contains(429) && codes[500...].contains(429))
    }

    @Test func `a node that does not answer is told from a session that is unknown`() throws {
        defer { stop() }
        let session = try location()
        neighbours.addresses.withLock { $0["owner"] = "http://127.0.0.1:1" }
        let response = other.request(.delete, session, headers: ["Authorization": "Bearer alice"])
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["Retry-After"] != nil)
        #expect(response.reason?.hasPrefix("SD-1136: ") == true)
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

/// A node that writes down what it is asked for, and answers 204.
private final class PathRecorder: Sendable {
    let port: UInt16
    private let thread: WorkerThread
    private let door: MailboxSender<Void>

    init(_ paths: Lock<[String]>) throws {
        let ready = Lock<(UInt16, MailboxSender<Void>)?>(nil)
        thread = try WorkerThread.start(name: "recorder") {
            guard let loop = try? EventLoop(), let mailbox = try? Mailbox<Void>(loop: loop, receive: { _ in loop.stop() }) else {
                return
            }
            let configuration = HTTPServerConfiguration(
                requestTimeout: .seconds(10), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10,
                maximumConnections: 100, maximumConnectionsPerAddress: 100)
            let server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
                paths.withLock { $0.append(request.target) }
                exchange.respond(HTTPResponse(.noContent))
            }
            guard let address = try? server.listen(on: SocketAddress(.loopback, port: 0)) else { return }
            ready.withLock { $0 = (address.port, mailbox.sender) }
            loop.run()
            withExtendedLifetime(server) {}
        }
        guard eventually({ ready.withLock { $0 != nil } }), let (port, door) = ready.withLock({ $0 }) else {
            preconditionFailure("the recorder did not begin")
        }
        (self.port, self.door) = (port, door)
    }

    func stop() {
        door.send(())
        thread.join()
    }
}
