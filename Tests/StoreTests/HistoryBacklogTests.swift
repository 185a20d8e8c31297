import EventLoop
import Foundation
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("History that its file does not take", .timeLimit(.minutes(10)))
struct HistoryBacklogTests {
    struct Refused: Error {}

    static func event(of user: Int) -> HistoryWrite {
        .event(
            ParticipantEvent(
                name: .joined, time: HistoryDatabaseTests.now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"),
                userID: "\(user)"))
    }

    /// A store, and a second connection to its file.
    private final class Bench {
        let store: EmbeddedStore
        let other: HistoryDatabase
        private let directory: TemporaryDirectory
        private let told = Lock<[StoreFilesNotice]>([])

        init() throws {
            let (directory, told) = (try TemporaryDirectory(), self.told)
            self.directory = directory
            var observers = EmbeddedStore.Observers()
            observers.onNotice = { notice in told.withLock { $0.append(notice) } }
            store = try EmbeddedStore(directory: directory.path, observers: observers)
            other = try HistoryDatabase(directory: directory.path)
        }

        deinit { other.close() }

        var notices: [StoreFilesNotice] { told.withLock { $0 } }

        /// While the store can write nothing.
        func whileLocked(_ body: () -> Void) throws {
            try other.queue.write { database in
                try database.execute(sql: "DELETE FROM target")
                body()
            }
        }
    }

    @Test
    func `what a locked file does not take is written in its order once it is free`() throws {
        let bench = try Bench()
        try bench.whileLocked {
            bench.store.record([Self.event(of: 0), Self.event(of: 1)])
            #expect(waitUntil { !bench.notices.isEmpty })
            bench.store.record([Self.event(of: 2)])
            #expect(waitUntil { bench.store.historyStanding.waiting == 3 })
        }
        #expect(waitUntil { bench.notices.count == 2 })
        bench.store.close()
        var users: [String] = []
        try bench.other.read { users = ((try? $0.events(after: 0, limit: 9)) ?? []).map(\.userID) }
        #expect(users == ["0", "1", "2"])
        guard case .away? = bench.notices.first else { return #expect(Bool(false), "\(bench.notices)") }
        #expect(bench.notices.dropFirst() == [.back])
        #expect(bench.store.historyStanding == HistoryStanding())
    }

    @Test
    func `what is still not written when the store is closed is told as lost`() throws {
        let bench = try Bench()
        try bench.whileLocked {
            bench.store.record([Self.event(of: 0)])
            bench.store.close()
        }
        #expect(bench.notices.last == .lost(1, reason: "the process ends"))
        #expect(bench.store.historyStanding.lost == 1)
    }

    @Test
    func `the oldest are kept, and points of metrics make room`() {
        var backlog = HistoryBacklog()
        backlog.add([.metrics([])] + (0..<HistoryBacklog.maximumWaiting).map(Self.event))
        #expect(backlog.bound() == 1)
        backlog.add([Self.event(of: -1)])
        #expect(backlog.bound() == 1)
        #expect(backlog.waiting.count == HistoryBacklog.maximumWaiting)
        #expect(backlog.waiting.first == Self.event(of: 0) && backlog.waiting.last != Self.event(of: -1))
    }

    @Test
    func `what a file does not forget is told`() throws {
        let directory = try TemporaryDirectory()
        let files = StoreFiles(directory: directory.path, webhooks: [], isQueueing: false)
        let (configuration, history) = try files.open()
        let told = Lock<[StoreFilesNotice]>([])
        let outlets = StoreWriter.Outlets(
            publish: { _ in }, onQueued: {}, onEvents: { _ in }, onNotice: { notice in told.withLock { $0.append(notice) } })
        let writer = StoreWriter(
            files, configuration: configuration, history: history, retention: .seconds(60), state: try configuration.load(),
            standing: Lock(HistoryStanding()), outlets: outlets)
        writer.sweep()
        #expect(told.withLock { $0 } == [])
        history.close()
        writer.sweep()
        guard case .notSwept? = told.withLock({ $0 }).first else { return #expect(Bool(false), "\(told.withLock { $0 })") }
        configuration.close()
        withExtendedLifetime(directory) {}
    }

    @Test
    func `a change of the configuration that its file does not take is told`() throws {
        let directory = try TemporaryDirectory()
        let files = StoreFiles(directory: directory.path, webhooks: [], isQueueing: false)
        let (configuration, history) = try files.open()
        let (told, failures) = (Lock<[StoreFilesNotice]>([]), Lock<[StoreError]>([]))
        let outlets = StoreWriter.Outlets(
            publish: { _ in }, onQueued: {}, onEvents: { _ in }, onNotice: { notice in told.withLock { $0.append(notice) } })
        let writer = StoreWriter(
            files, configuration: configuration, history: history, retention: .seconds(60), state: try configuration.load(),
            standing: Lock(HistoryStanding()), outlets: outlets)
        configuration.close()
        let job = StoreJob.transaction { transaction in
            transaction.put(EmbeddedStoreTests.stage("abc"))
            return { failure in if let failure { failures.withLock { $0.append(failure) } } }
        } refuse: { _ in
        }
        writer.carryOut([job])
        #expect(failures.withLock { $0 }.count == 1)
        guard case .notChanged? = told.withLock({ $0 }).first else { return #expect(Bool(false), "\(told.withLock { $0 })") }
        history.close()
        withExtendedLifetime(directory) {}
    }

    @Test
    func `what the cluster has taken is told once`() {
        var backlog = HistoryBacklog()
        backlog.add([.forwarded(through: 1, taken: []), .forwarded(through: 2, taken: []), Self.event(of: 0)])
        #expect(backlog.waiting == [.forwarded(through: 2, taken: []), Self.event(of: 0)])
    }

    @Test
    func `a write that is refused for good is lost alone`() {
        var backlog = HistoryBacklog()
        backlog.add((0..<5).map(Self.event))
        var taken: [HistoryWrite] = []
        let outcome = backlog.write { writes in
            guard !writes.contains(Self.event(of: 2)) else { throw Refused() }
            taken += writes
            return []
        }
        #expect(outcome.fault == nil && outcome.refused == 1)
        #expect(taken == [0, 1, 3, 4].map(Self.event) && backlog.waiting.isEmpty)
    }

    @Test
    func `a full disk keeps what it has not taken`() {
        var backlog = HistoryBacklog()
        backlog.add((0...HistoryBacklog.page).map(Self.event))
        let outcome = backlog.write { writes in
            guard writes.count > 1 else { throw DatabaseError(resultCode: .SQLITE_FULL) }
            return []
        }
        #expect(outcome.fault != nil && outcome.refused == 0)
        #expect(backlog.waiting == [Self.event(of: HistoryBacklog.page)])
    }
}
