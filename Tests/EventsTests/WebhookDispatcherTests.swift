import EventLoop
import HTTP
import HTTPServer
import JSON
import OpenSSL
import Settings
import Store
import Testing
import Wire

@testable import Events

@Suite("Webhooks")
struct WebhookDispatcherTests {
    @Test
    func `a webhook gets each event once more until it takes it`() throws {
        let bench = try EventsBench()
        var taken: [String] = []
        var tries = 0
        var settings = WebhookSettings()
        settings.secret = Secret("key")
        let dispatcher = try WebhookDispatcher(
            loop: bench.loop, name: "hook", settings: settings, store: bench.store,
            wallNow: { WallTime(secondsSince1970: 5) }
        ) { headers, body, done in
            tries += 1
            guard tries != 1 else { return done(500) }
            let signature = HMAC.sha256(key: Array("key".utf8), Array("5.".utf8) + body)
            let value = "t=5,v1=\(String(hexadecimal: signature))"
            #expect(headers.contains { $0.name == "Stagedoor-Signature" && $0.value == value })
            taken.append((try? JSONValue(parsing: body))?["detail"]?["event_name"]?.string ?? "")
            done(204)
        }
        bench.whenever { dispatcher.wake() }
        for name in [.joined, .publishStarted, .publishStopped, .left] as [ParticipantEvent.Name] { bench.record(name, of: "p") }
        #expect(bench.wait { taken.count == 2 })
        #expect(taken == ["Participant Published", "Participant Unpublished"])
        let left = Lock<Int?>(nil)
        bench.store.read {
            try $0.undelivered(to: "hook", limit: 10).count
        } reply: { result in
            let count = try? result.get()
            left.withLock { $0 = count }
        }
        #expect(bench.wait { left.withLock { $0 != nil } })
        #expect(left.withLock { $0 } == 0)
    }

    /// More of them than are in memory at once.
    @Test
    func `events behind one that is refused keep no other participant's out, and follow it in order`() throws {
        let bench = try EventsBench()
        var isRefusing = true
        var taken: [String: [String]] = [:]
        let dispatcher = try WebhookDispatcher(
            loop: bench.loop, name: "hook", settings: WebhookSettings(), store: bench.store
        ) { _, body, done in
            let detail = (try? JSONValue(parsing: body))?["detail"]
            let participant = detail?["participant_id"]?.string ?? ""
            guard participant != "refused" || !isRefusing else { return done(500) }
            taken[participant, default: []].append(detail?["error_code"]?.string ?? "")
            done(204)
        }
        bench.whenever { dispatcher.wake() }
        let codes = (1...1_100).map { "\($0)" }
        // In two sessions: of each a participant's last thousand are kept.
        for (index, code) in codes.enumerated() {
            bench.record(.publishError, of: "refused", in: "st-\(index % 2)", code: code)
        }
        bench.record(.publishError, of: "other", code: "only")
        #expect(bench.wait { taken["other"] == ["only"] })
        isRefusing = false
        #expect(bench.wait { taken["refused"]?.count == codes.count })
        #expect(taken["refused"] == codes)
    }

    /// Of each of them one event is in memory, and none is ever taken.
    @Test
    func `a thousand participants whose events are refused keep nobody else's out`() throws {
        let bench = try EventsBench()
        var isTaken = false
        let dispatcher = try WebhookDispatcher(
            loop: bench.loop, name: "hook", settings: WebhookSettings(), store: bench.store
        ) { _, body, done in
            let participant = (try? JSONValue(parsing: body))?["detail"]?["participant_id"]?.string
            if participant == "other" { isTaken = true }
            done(participant == "other" ? 204 : 400)
        }
        bench.whenever { dispatcher.wake() }
        for number in 1...1_100 { bench.record(.publishError, of: "p\(number)") }
        bench.record(.publishError, of: "other")
        #expect(bench.wait { isTaken })
    }

    @Test
    func `an outbox that could not be read is read again without a new event`() throws {
        let bench = try EventsBench()
        var isThere = false
        bench.whenever { isThere = true }
        bench.record(.publishStarted, of: "p")
        try #require(bench.wait { isThere })
        var taken = 0
        let dispatcher = try WebhookDispatcher(
            loop: bench.loop, name: "hook", settings: WebhookSettings(),
            store: UnreadableStore(bench.store)
        ) { _, _, done in
            taken += 1
            done(204)
        }
        #expect(bench.wait { taken == 1 })
        withExtendedLifetime(dispatcher) {}
    }

    /// Receivers that answer with a page of theirs.
    @Test(arguments: [HTTPStatus.ok, .internalServerError])
    func `an answer of any length counts by its status`(_ status: HTTPStatus) throws {
        let loop = try EventLoop()
        let configuration = HTTPServerConfiguration(
            requestTimeout: .seconds(60), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10, maximumConnections: 10,
            maximumConnectionsPerAddress: 10)
        let server = HTTPServer(loop: loop, configuration: configuration) { _, exchange in
            exchange.respond(HTTPResponse(status, body: [UInt8](repeating: 65, count: 100_000)))
        }
        let address = try server.listen(on: SocketAddress(.loopback, port: 0))
        var settings = WebhookSettings()
        settings.url = "http://\(address)/"
        settings.timeout = .seconds(60)
        var faults: [String] = []
        let send = WebhookDispatcher.sender(to: settings, loop: loop) { faults.append($0) }
        var answers: [Int?] = []
        send([], Array("{}".utf8)) { answers.append($0) }
        #expect(loop.run(until: { !answers.isEmpty }, within: .seconds(60)))
        #expect(answers == [status.code])
        #expect(faults == (status == .ok ? [] : ["it answered 500"]))
        withExtendedLifetime(server) {}
    }
}

/// A store whose history cannot be read at the first attempt.
private final class UnreadableStore: GatewayStore {
    private let store: EmbeddedStore
    private let isReadable = Lock(false)

    init(_ store: EmbeddedStore) { self.store = store }

    var state: StoreState { store.state }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) { store.write(body, reply: reply) }

    func record(_ writes: [HistoryWrite]) { store.record(writes) }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let isFirst = isReadable.withLock { isReadable in
            defer { isReadable = true }
            return !isReadable
        }
        if isFirst { reply(.failure(StoreError.failed(reason: "the disk"))) } else { store.read(body, reply: reply) }
    }
}
