import EventLoop
import Redis
import TestSupport
import Testing
import Wire

@testable import ClusterStore
@testable import Store

private typealias Story = ClusterHistoryTests

@Suite("History that waits for the platform", .timeLimit(.minutes(10)))
struct HistoryQueueTests {
    @Test
    func `what happens while the database is away is there once it is back, also after a restart of the node`() async throws {
        let bench = try ClusterBench(["appendonly yes", "appendfsync always"])
        let directory = try TemporaryDirectory()
        var node: TestNode? = try TestNode(bench.settings("a"), directory: directory)
        node?.store.record(Story.start(7))
        try await eventually { try await node?.read { try $0.events(after: 0, limit: 9).count } == 2 }
        bench.server.withLock { $0.kill() }
        try await eventually { node?.store.statistics.isAway == true }
        node?.store.record(
            [Story.event(.publishStopped, 7), Story.event(.left, 7), Story.participant(7, isConnected: false)])
        await #expect(throws: StoreError.away) { try await node?.read { try $0.lastSequence() } }
        node?.store.close()
        node = nil
        try bench.server.withLock { try $0.start() }
        node = try TestNode(bench.settings("a"), directory: directory)
        node?.store.record([Story.event(.joined, 9)])
        let again = try #require(node)
        try await eventually { try await Story.names(again).count == 5 }
        #expect(try await Story.names(again) == [.joined, .publishStarted, .publishStopped, .left, .joined])
    }

    @Test
    func `what a node brings late is listed by when it happened, page by page`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        first.store.record(Story.start(7))
        try await eventually { try await Story.names(first).count == 2 }
        second.store.record([Story.participant(9), Story.event(.joined, 9, at: 6), Story.event(.publishStarted, 9, at: 7)])
        try await eventually { try await Story.names(first).count == 4 }
        first.store.record([Story.event(.publishStopped, 7, at: 5), Story.event(.left, 7, at: 5)])
        try await eventually { try await Story.names(first).count == 6 }
        #expect(
            try await Story.names(first) == [.joined, .publishStarted, .publishStopped, .left, .joined, .publishStarted])
        let page = try await first.read {
            try $0.events(of: .init("p", ofStage: Story.arn, sessionID: "st-1"), after: 2, limit: 2)
        }
        #expect(page.map(\.name) == [.publishStopped, .left] && page.map(\.sequence) == [3, 4])
        let none = try await first.read {
            try $0.events(of: .init("p", ofStage: Story.arn, sessionID: "st-1"), after: 6, limit: 2)
        }
        #expect(none.isEmpty)
    }

    @Test
    func `while another process has the files it forwards, and this one goes on when they come back`() async throws {
        let bench = try ClusterBench()
        let directory = try TemporaryDirectory()
        let first = try TestNode(bench.settings("a"), directory: directory)
        first.store.record(Story.start(7))
        try await eventually { try await Story.names(first).count == 2 }
        await withCheckedContinuation { continuation in first.store.local.suspend { continuation.resume() } }
        first.store.record([Story.event(.publishError, 7)])
        var second: TestNode? = try TestNode(bench.settings("a"), directory: directory)
        second?.store.record([Story.event(.joined, 9)])
        try await eventually { try await Story.names(first).count >= 5 }
        second = nil
        _ = try await withCheckedThrowingContinuation { continuation in
            first.store.local.resume(sparing: []) { continuation.resume(with: $0) }
        }
        first.store.record([Story.event(.joined, 11)])
        try await eventually { try await Story.names(first).count == 6 }
        // By their times: the end is of today, what the test tells of 2084.
        #expect(
            try await Story.names(first) == [.publishStopped, .left, .joined, .publishStarted, .joined, .joined],
            "the other process has closed this one's publish, and with it what this one had still to say")
    }

    @Test
    func `history that a full database refuses waits, is told once, and goes on when there is room`() async throws {
        let bench = try ClusterBench()
        let notices = Lock<[ClusterStoreNotice]>([])
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in notices.withLock { $0.append(notice) } }
        let node = try bench.node("a", observers: observers)
        try await eventually { !node.store.statistics.isAway }
        _ = try bench.ask("CONFIG", "SET", "maxmemory", "1")
        node.store.record(Story.start(7))
        func refusals() -> Int {
            notices.withLock { $0.count { if case .historyRefused = $0 { true } else { false } } }
        }
        try await eventually { refusals() == 1 }
        _ = try bench.ask("CONFIG", "SET", "maxmemory", "0")
        try await eventually { try await Story.names(node) == [.joined, .publishStarted] }
        #expect(refusals() == 1)
    }

    /// Whoever writes to it hears so at once, as to one without the replicas that it must have (`min-replicas-to-write`).
    @Test
    func `a database that is connected and takes nothing is asked again after a pause`() throws {
        let (directory, server) = (try TemporaryDirectory(), RefusingServer())
        let local = try EmbeddedStore(directory: directory.path)
        defer { local.close() }
        var feed = HistoryFeed(
            forwarder: HistoryForwarder(server: server, schema: KeySchema(prefix: "sd:"), retention: .seconds(86_400)),
            local: local, inbox: StoreInbox())
        let queue = HistoryQueue(name: "q", writes: [QueuedWrite(sequence: 1, write: Story.event(.joined, 7))])
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        for _ in 0..<3 {
            feed.take(.success(queue), at: now)
            #expect(feed.advance(isConnected: true, at: now) == nil)
        }
        #expect(server.questions == 1)
        _ = feed.advance(isConnected: true, at: now + HistoryFeed.pause)
        #expect(server.questions == 2)
    }
}

private final class RefusingServer: DatabaseServer {
    private(set) var questions = 0

    func ask(_ questions: [Question]) throws(StoreError) -> [RedisValue] {
        self.questions += questions.count
        throw .away
    }

    func settle(_ key: String) -> Bool { true }
}
