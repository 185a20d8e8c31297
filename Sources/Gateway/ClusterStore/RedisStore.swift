import EventLoop
import OpenSSL
import Settings
public import Store

/// The store of many gateways, on Redis or Valkey, with a thread and a connection of its own.
///
/// The whole configuration is in memory, as with the store of one gateway; a reply to a transaction means that the database has
/// it and that `state` shows it. Other nodes see it as soon as they are told, which takes milliseconds. History is written to
/// the local store first, and from there forwarded in order: nothing of it is lost while the database is away.
public final class RedisStore: GatewayStore {
    /// Requests that may wait; beyond it they are answered `StoreError.overloaded`.
    public static let maximumWaiting = 10_000

    /// What a store reports, each on the thread that is named.
    public struct Observers: Sendable {
        /// The configuration is another one, whoever changed it. On the store's thread.
        public var onChange: @Sendable (StoreState) -> Void = { _ in }
        /// There are new events of the cluster, or may be. On the store's thread.
        public var onEvents: @Sendable () -> Void = {}
        /// Events of this node wait for its receivers. On the local store's thread.
        public var onLocalEvents: @Sendable ([ParticipantEvent]) -> Void = { _ in }
        public var onNotice: @Sendable (ClusterStoreNotice) -> Void = { _ in }
        /// Something about this node's own files. On the local store's thread.
        public var onLocalNotice: @Sendable (StoreFilesNotice) -> Void = { _ in }

        public init() {}

        fileprivate func local(_ inbox: StoreInbox) -> EmbeddedStore.Observers {
            var local = EmbeddedStore.Observers()
            local.onQueued = { inbox.historyWaits() }
            (local.onEvents, local.onNotice) = (onLocalEvents, onLocalNotice)
            return local
        }
    }

    /// This node's own files: its outbox, and the queue of history that the cluster has not taken yet.
    public let local: EmbeddedStore
    private let published: Lock<StoreState>
    private let counted: Lock<ClusterStoreStatistics>
    private let inbox: StoreInbox
    private let thread: WorkerThread

    /// Reads the cluster's configuration and opens the local files.
    ///
    /// - Parameter directory: the data directory, which the caller has locked.
    /// - Parameter webhooks: names of the receivers for whom this node's events are kept until they took them.
    /// - Parameter seeding: changes that are made before anybody reads. It may run again, if another node seeds meanwhile.
    /// - Throws: `.cannotOpen` when the database does not answer, is encrypted with another key, or a file cannot be opened.
    public init(
        _ settings: RedisStoreSettings, directory: String, webhooks: [String] = [],
        seeding: (inout StateTransaction) throws -> Void = { _ in }, observers: Observers = Observers()
    ) throws(StoreError) {
        let inbox = StoreInbox()
        local = try EmbeddedStore(
            directory: directory, webhooks: webhooks, retention: settings.events.retention,
            observers: observers.local(inbox))
        let process = "\(settings.node):\(Identifier.random(8))"
        let (snapshot, runIDs) = try DatabaseOpening(settings, process: process).load(seeding: seeding)
        let (published, counted) = (Lock(snapshot.state), Lock(ClusterStoreStatistics()))
        (self.published, self.counted, self.inbox) = (published, counted, inbox)
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
                StoreThread.run(settings, from: beginning, local: local, inbox: inbox, outlets: outlets)
            }
        } catch {
            throw .cannotOpen(path: directory, reason: String(describing: error))
        }
        inbox.historyWaits()
    }

    deinit { close() }

    public var state: StoreState { published.withLock { $0 } }

    public var statistics: ClusterStoreStatistics { counted.withLock { $0 } }

    /// Carries out what waits, closes the connection and the local files, and ends the threads. What history the cluster has
    /// not taken stays in the local files.
    public func close() {
        inbox.close()
        thread.join()
        local.close()
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        inbox.ask(
            { database in reply(Result { try database.write(body) }) }, refuse: { reply(.failure($0)) })
    }

    public func record(_ writes: [HistoryWrite]) { local.record(writes) }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        inbox.ask({ database in reply(Result { try body(database.history) }) }, refuse: { reply(.failure($0)) })
    }
}

/// Something about the cluster's database that operators want to know.
public enum ClusterStoreNotice: Equatable, Sendable {
    /// Writes are refused until it is back; what is in memory stays good.
    case away(reason: String)
    case back
    /// All records were read, because what changed meanwhile cannot be told.
    case reloaded(records: Int)
    /// A record of another version of this program, or of another platform key: it counts as absent, or as what it was when it could
    /// be read.
    case unreadable(key: String)
    /// A write stands that no replica had within a second: a failover at that moment would have lost it. How many so far.
    case notReplicated(total: Int)
    /// History waits in the local queue, for the database refused it.
    case historyRefused(reason: String)
}

/// What the store of a cluster has done so far.
public struct ClusterStoreStatistics: Equatable, Sendable {
    public var isAway = true
    public var records = 0
    /// Transactions that were run again because another node was faster.
    public var conflicts = 0
    /// Writes that no replica had within a second: a failover at that moment would have lost them.
    public var replicaMisses = 0
    public var reloads = 0
    /// History forwarded to the database.
    public var forwarded = 0
}
