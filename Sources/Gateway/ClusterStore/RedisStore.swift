import EventLoop
import OpenSSL
import Settings
public import Store

/// The store of a platform of many gateways, on Redis or Valkey, with a thread and a connection of its own.
///
/// The whole configuration is in memory, as with the store of one gateway; a reply to a transaction means that the database has
/// it and that `state` shows it. Other nodes see it as soon as they are told, which takes milliseconds. History is written to
/// the local store first, and from there forwarded in order: nothing of it is lost while the database is away.
public final class RedisStore: PlatformStore {
    /// Requests that may wait; beyond it they are answered `StoreError.overloaded`.
    public static let maximumWaiting = 10_000

    /// What a store tells, each on the thread that is named.
    public struct Observers: Sendable {
        /// The configuration is another one, whoever changed it. On the store's thread.
        public var onChange: @Sendable (PlatformState) -> Void = { _ in }
        /// There are new events of the platform, or may be. On the store's thread.
        public var onEvents: @Sendable () -> Void = {}
        /// Events of this node wait for its receivers. On the local store's thread.
        public var onLocalEvents: @Sendable ([ParticipantEvent]) -> Void = { _ in }
        public var onNotice: @Sendable (ClusterStoreNotice) -> Void = { _ in }

        public init() {}
    }

    /// This node's own files: its outbox, and the queue of history that the platform has not taken yet.
    public let local: EmbeddedStore
    private let published: Lock<PlatformState>
    private let counted: Lock<ClusterStoreStatistics>
    private let door: StoreDoor
    private let thread: WorkerThread

    /// Reads the platform's configuration and opens the local files.
    ///
    /// - Parameter directory: the data directory, which the caller has locked.
    /// - Parameter webhooks: names of the receivers for whom this node's events are kept until they took them.
    /// - Parameter living: participants of another process of this gateway, which it goes on with.
    /// - Parameter seeding: changes that are made before anybody reads. It may run again, if another node seeds meanwhile.
    /// - Throws: `.cannotOpen` when the database does not answer, is encrypted with another key, or a file cannot be opened.
    public init(
        _ settings: RedisStoreSettings, directory: String, webhooks: [String] = [],
        sparing living: Set<LivingParticipant> = [],
        seeding: (inout StateTransaction) throws -> Void = { _ in }, observers: Observers = Observers()
    ) throws(StoreError) {
        let door = StoreDoor()
        local = try EmbeddedStore(
            directory: directory, webhooks: webhooks, retention: settings.events.retention, sparing: living,
            onQueued: { door.historyWaits() }, onEvents: observers.onLocalEvents)
        let process = "\(settings.node):\(Identifier.random(8))"
        let (snapshot, runIDs) = try PlatformOpening(settings, process: process).load(seeding: seeding)
        let (published, counted) = (Lock(snapshot.state), Lock(ClusterStoreStatistics()))
        (self.published, self.counted, self.door) = (published, counted, door)
        let local = local
        do {
            thread = try WorkerThread.start(name: "cluster store") {
                let outlets = StoreThread.Outlets(
                    publish: { new in
                        published.withLock { $0 = new }
                        observers.onChange(new)
                    },
                    count: { new in counted.withLock { $0 = new } }, onEvents: observers.onEvents, onNotice: observers.onNotice)
                let beginning = StoreThread.Beginning(process: process, snapshot: snapshot, runIDs: runIDs)
                StoreThread.run(settings, from: beginning, local: local, door: door, outlets: outlets)
            }
        } catch {
            throw .cannotOpen(path: directory, reason: String(describing: error))
        }
        door.historyWaits()
    }

    deinit { close() }

    public var state: PlatformState { published.withLock { $0 } }

    public var statistics: ClusterStoreStatistics { counted.withLock { $0 } }

    /// Carries out what waits, closes the connection and the local files, and ends the threads. What history the platform has
    /// not taken stays in the local files.
    public func close() {
        door.close()
        thread.join()
        local.close()
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        door.ask(
            { platform in reply(Result { try platform.write(body) }) }, refuse: { reply(.failure($0)) })
    }

    public func record(_ writes: [HistoryWrite]) { local.record(writes) }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        door.ask({ platform in reply(Result { try body(platform.history) }) }, refuse: { reply(.failure($0)) })
    }

    /// Makes the lists of records anew from the records themselves, should they have been damaged.
    /// - Parameter reply: how many entries were missing or led nowhere.
    public func repairIndexes(reply: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        door.ask({ platform in reply(Result { try platform.repairIndexes() }) }, refuse: { reply(.failure($0)) })
    }
}
