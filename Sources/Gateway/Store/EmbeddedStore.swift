import EventLoop

/// The store on two SQLite files of the data directory, with a thread of its own.
///
/// All writes that wait are committed together: one fsync for as many API calls as came during the last one. A reply means
/// that a kill -9 the next moment loses nothing, and that every thread already sees the new `state`.
public final class EmbeddedStore: GatewayStore {
    /// Requests that may wait; beyond it they are answered `StoreError.overloaded`.
    public static let maximumWaiting = 10_000
    /// How long the history is kept when nothing else is said.
    public static let defaultRetention = Duration.seconds(14 * 86_400)

    /// What a former process left in the history.
    public struct Recovered: Equatable, Sendable {
        /// Stage sessions that had not ended.
        public var activeSessions: [StageSession]
        /// Of all publishes.
        public var highestGeneration: UInt64
    }

    /// What a store reports, on its thread.
    public struct Observers: Sendable {
        /// There is history to forward; nil for a store that is not part of a cluster's.
        public var onQueued: (@Sendable () -> Void)?
        /// The configuration is another one, which is visible.
        public var onChange: @Sendable (StoreState) -> Void = { _ in }
        /// Events of participants have been written, in this order.
        public var onEvents: @Sendable ([ParticipantEvent]) -> Void = { _ in }
        /// Something about its files.
        public var onNotice: @Sendable (StoreFilesNotice) -> Void = { _ in }

        public init() {}
    }

    public let recovered: Recovered
    private let published: Lock<StoreState>
    private let standing: Lock<HistoryStanding>
    private let queue = StoreQueue(maximumWaiting: maximumWaiting)
    private let thread: WorkerThread

    /// Opens, migrates and loads both files, and mends the history of a process that died.
    ///
    /// - Parameter directory: the data directory, which the caller has locked.
    /// - Parameter webhooks: names of the receivers for whom events are kept until they took them.
    /// - Parameter retention: how long sessions, participants and events are kept.
    /// - Parameter living: participants that another process of this gateway keeps.
    /// - Parameter seeding: changes that are made before anybody reads, such as the keys that the server keeps for itself.
    /// - Throws: `.cannotOpen`.
    public init(
        directory: String, webhooks: [String] = [], retention: Duration = defaultRetention,
        sparing living: Set<LivingParticipant> = [],
        seeding: (inout StateTransaction) throws -> Void = { _ in }, observers: Observers = Observers()
    ) throws(StoreError) {
        let files = StoreFiles(directory: directory, webhooks: webhooks, isQueueing: observers.onQueued != nil)
        let (configuration, history) = try files.open()
        let (queue, standing) = (queue, Lock(HistoryStanding()))
        self.standing = standing
        do {
            var transaction = StateTransaction(try configuration.load())
            try seeding(&transaction)
            try configuration.commit(transaction.changes)
            recovered = try history.recover(at: EventLoop.wallNow(), webhooks: webhooks, sparing: living)
            let state = transaction.state
            let published = Lock(state)
            self.published = published
            thread = try WorkerThread.start(name: "store") {
                let outlets = StoreWriter.Outlets(
                    publish: { new in
                        published.withLock { $0 = new }
                        observers.onChange(new)
                    }, onQueued: observers.onQueued ?? {}, onEvents: observers.onEvents, onNotice: observers.onNotice)
                let writer = StoreWriter(
                    files, configuration: configuration, history: history, retention: retention, state: state,
                    standing: standing, outlets: outlets)
                queue.serve(writer)
            }
        } catch {
            throw .cannotOpen(path: directory, reason: String(describing: error))
        }
    }

    deinit { close() }

    public var state: StoreState { published.withLock { $0 } }

    /// How many writes the history's file has not taken.
    public var historyStanding: HistoryStanding { standing.withLock { $0 } }

    /// Carries out what waits, closes both files and ends the thread.
    public func close() {
        queue.close()
        thread.join()
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let job = StoreJob.transaction { transaction in
            let value = try body(&transaction)
            return { failure in reply(failure.map { .failure($0) } ?? .success(value)) }
        } refuse: {
            reply(.failure($0))
        }
        if let reason = queue.add(job) { reply(.failure(reason)) }
    }

    public func record(_ writes: [HistoryWrite]) {
        if case .overloaded? = queue.add(.history(writes)) { standing.withLock { $0.lost += writes.count } }
    }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let job = StoreJob.reading { reader in
            reply(Result { try body(reader) })
        } refuse: {
            reply(.failure($0))
        }
        if let reason = queue.add(job) { reply(.failure(reason)) }
    }
}

// MARK: - A node of a cluster

extension EmbeddedStore {
    /// The beginning of what the cluster has not taken yet; `HistoryWrite.forwarded` takes it out.
    package func readQueue(limit: Int, reply: @escaping @Sendable (Result<HistoryQueue, any Error>) -> Void) {
        read { history in
            guard let history = history as? EmbeddedHistory else { throw StoreError.closed }
            return try history.historyQueue(limit: limit)
        } reply: {
            reply($0)
        }
    }
}

// MARK: - One owner at a time

extension EmbeddedStore {
    /// Closes both files once all that waits is written. From then on everything waits, and `state` stays as it is.
    /// - Parameter done: called on the store's thread when another process may open the files.
    public func suspend(_ done: @escaping @Sendable () -> Void) { queue.order(.suspend(done: done)) }

    /// The files stay with another process: history goes there, beginning with what has waited; the rest is refused as closed.
    /// - Parameter relay: called on any thread, in the order of `record`; it must not wait.
    public func relay(to relay: @escaping @Sendable ([HistoryWrite]) -> Void) { queue.relay(to: relay) }

    /// Opens the files again and takes up what is in them. What is recorded from now on waits for that.
    /// - Parameter living: participants of ours; others that the history calls connected have died with the other process.
    public func resume(
        sparing living: @autoclosure () -> Set<LivingParticipant>,
        reply: @escaping @Sendable (Result<Recovered, StoreError>) -> Void
    ) {
        // First: the end of who is spared must not go to the other process, which is no more.
        queue.endRelay()
        queue.order(.resume(sparing: living(), reply: reply))
    }
}
