import EventLoop
import HTTP
import Store
import Synchronization
import Testing
import Wire

@testable import Events

@Suite("Stream of events")
struct EventStreamHubTests {
    @Test
    func `a reader goes on after its last event`() throws {
        let bench = try EventsBench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store)
        bench.whenever { hub.wake() }
        for participant in ["a", "b", "c"] { bench.record(.publishStarted, of: participant) }
        var seen: [ServerSentEvent] = []
        let first = hub.subscribe(lastEventID: "1") { seen.append($0) }
        #expect(bench.wait { seen.count == 2 })
        #expect(seen.map(\.id) == ["2", "3"])
        bench.record(.publishStopped, of: "a")
        #expect(bench.wait { seen.count == 3 })
        #expect(seen.last?.data.contains("Participant Unpublished") == true)
        withExtendedLifetime(first) {}
    }

    @Test func `a reader is told what happened while the store was away, though nothing more happens`() throws {
        let bench = try EventsBench()
        let store = AwayStore(bench.store)
        let hub = try EventStreamHub(loop: bench.loop, store: store)
        for participant in ["a", "b"] { bench.record(.publishStarted, of: participant) }
        var seen: [ServerSentEvent] = []
        let subscriptions = (0..<2).map { _ in hub.subscribe(lastEventID: "1") { seen.append($0) } }
        #expect(bench.wait { store.reads.load(ordering: .relaxed) >= 4 })
        #expect(seen.isEmpty)
        store.isAway.store(false, ordering: .relaxed)
        #expect(bench.wait { seen.count == 2 })
        #expect(seen.map(\.id) == ["2", "2"])
        withExtendedLifetime(subscriptions) {}
    }

    /// As on a slow way after a long absence: what it missed would pile up until it is cut off.
    @Test func `a reader that comes back is told as fast as it takes it`() throws {
        let bench = try EventsBench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store)
        for number in 1...(EventStreamHub.pageLength + 1) { bench.record(.publishStarted, of: "p\(number)") }
        var (seen, hasTaken) = (0, true)
        let subscription = hub.subscribe(lastEventID: "0", takesMore: { hasTaken }) { _ in (seen, hasTaken) = (seen + 1, false) }
        #expect(bench.wait { seen == EventStreamHub.pageLength })
        hub.wake()
        #expect(!bench.loop.run(until: { seen > EventStreamHub.pageLength }, within: .milliseconds(100)))
        hasTaken = true
        subscription?.goOn()
        #expect(bench.wait { seen == EventStreamHub.pageLength + 1 })
        withExtendedLifetime(subscription) {}
    }

    /// Without a last event, or with one of another history: as after a migration from a cluster, whose numbers are larger by
    /// far, or when the data directory was restored.
    @Test(arguments: [nil, "1887436800000000000"])
    func `a reader whose place is not known here sees what happens from now on`(lastEventID: String?) throws {
        let bench = try EventsBench()
        let hub = try EventStreamHub(loop: bench.loop, store: bench.store)
        bench.record(.publishStarted, of: "old")
        var seen: [ServerSentEvent] = []
        let subscription = hub.subscribe(lastEventID: lastEventID) { seen.append($0) }
        #expect(bench.wait { hub.isAtEnd })
        bench.whenever { hub.wake() }
        bench.record(.publishStarted, of: "new")
        #expect(bench.wait { seen.count == 1 })
        #expect(seen.first?.id == "2")
        withExtendedLifetime(subscription) {}
    }
}

/// A store whose history cannot be read for a while.
private final class AwayStore: GatewayStore {
    let isAway = Atomic<Bool>(true)
    let reads = Atomic<Int>(0)
    private let store: EmbeddedStore

    init(_ store: EmbeddedStore) { self.store = store }

    var state: StoreState { store.state }
    func record(_ writes: [HistoryWrite]) { store.record(writes) }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        store.write(body, reply: reply)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        reads.add(1, ordering: .relaxed)
        if isAway.load(ordering: .relaxed) { return reply(.failure(StoreError.away)) }
        store.read(body, reply: reply)
    }
}
