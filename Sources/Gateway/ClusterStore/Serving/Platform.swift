import EventLoop
import Redis
import Settings
import Store
import Wire

/// One process's replica of a platform's configuration, and its way to change it. Confined to a thread that may wait.
final class Platform {
    /// A transaction that finds newer records so many times is refused as overload.
    static let maximumAttempts = 10

    /// Told of each new state, before whoever changed it is answered.
    var onChange: (PlatformState) -> Void = { _ in }
    private(set) var replica = Replica()
    /// Records that could not be understood when all were read.
    private(set) var unreadable: [String] = []
    /// Carried out, and run again because another node was faster.
    private(set) var (transactions, conflicts) = (0, 0)
    var replicaMisses: Int { committer.replicaMisses }
    let loader: Loader
    private var committer: Committer
    private var follower: ChangeFollower
    private let monotonicNow: () -> MonotonicTime
    private var toldRevision: UInt64 = 0

    /// - Parameter node: of this process alone, so that it knows its own commits.
    init(
        server: any PlatformServing, schema: KeySchema, codec: RecordCodec, node: String,
        monotonicNow: @escaping () -> MonotonicTime = { EventLoop.monotonicNow() }
    ) {
        loader = Loader(server: server, schema: schema, codec: codec, node: node)
        committer = Committer(server: server, schema: schema, codec: codec, node: node)
        follower = ChangeFollower(node: node, position: "")
        self.monotonicNow = monotonicNow
    }

    /// - Parameter snapshot: what another connection of this process has read; without one nothing is known yet.
    convenience init(
        server: any PlatformServing, settings: RedisStoreSettings, process: String, continuing snapshot: Snapshot? = nil
    ) {
        let codec = RecordCodec(cipher: RecordCipher(settings.platformKey))
        self.init(server: server, schema: KeySchema(prefix: settings.cluster.keyPrefix), codec: codec, node: process)
        guard let snapshot else { return }
        (replica, follower, toldRevision) = (snapshot.replica, snapshot.follower, snapshot.replica.revision)
        committer = Committer(
            server: server, schema: loader.schema, codec: codec, node: process, progress: snapshot.progress)
    }

    /// What a process knows of the platform, to go on with over another connection.
    struct Snapshot: Sendable {
        fileprivate(set) var replica: Replica
        fileprivate var follower: ChangeFollower
        fileprivate var progress: Committer.Progress
        fileprivate(set) var unreadable: [String]

        var state: PlatformState { replica.state }
    }

    var snapshot: Snapshot {
        Snapshot(replica: replica, follower: follower, progress: committer.progress, unreadable: unreadable)
    }

    var history: PlatformHistory { PlatformHistory(server: loader.server, schema: loader.schema) }

    /// When there is something to read again although nobody says so.
    var deadline: MonotonicTime? { follower.deadline }

    /// Makes sure that the database is this platform's, which the first node that comes decides.
    /// - Throws: `.failed` when it was made with another key.
    func verify() throws(StoreError) {
        let (server, key, check) = (loader.server, loader.schema.platform, loader.codec.cipher.check)
        _ = try server.ask(.init("SETNX", .init(key), .init(check)), key: key)
        let found = try server.ask(.init("GET", .init(key)), key: key).text
        guard found == check else {
            throw .failed(reason: "the platform key is another one than that with which this platform's database was made")
        }
    }

    /// Reads everything.
    func reload() throws(StoreError) {
        let loaded = try loader.loadAll()
        (replica, unreadable) = (loaded.replica, loaded.unreadable)
        tellAlways()
        follower = ChangeFollower(node: follower.node, position: loaded.position)
    }

    enum CaughtUp: Equatable {
        case followed(unreadable: [String])
        /// The stream does not reach back to what was read last: everything is to be read.
        case lostTrack
    }

    /// Reads what other nodes changed since the last time.
    func catchUp() throws(StoreError) -> CaughtUp {
        while true {
            guard let entries = try loader.changes(after: follower.position, newest: newestEntry) else { return .lostTrack }
            // Should the next page or the records not come, these are read another time.
            let keys = follower.read(entries, at: monotonicNow())
            follower.doubtOwn(keys)
            if entries.count < Loader.page { break }
        }
        let keys = follower.takeDue(at: monotonicNow())
        guard !keys.isEmpty else { return .followed(unreadable: []) }
        do {
            defer { tell() }
            return .followed(unreadable: try loader.reload(keys, into: &replica))
        } catch {
            follower.doubtOwn(keys)
            throw error
        }
    }

    /// Of those read and our own the later: what a server that lost its newest writes has not.
    private var newestEntry: String {
        guard let own = committer.progress.lastEntry.flatMap(EventNumber.init), let read = EventNumber(follower.position) else {
            return follower.position
        }
        return max(own.sequence, read.sequence) == own.sequence ? own.streamID : follower.position
    }

    /// Runs `body` on the replica, and again while other nodes are faster, until its changes are in the database.
    ///
    /// - Throws: what `body` throws; `StoreError.away` when the database does not answer, and then `overloaded` if conflicts do
    ///   not end.
    func write<Value>(_ body: (inout StateTransaction) throws -> Value) throws -> Value {
        for _ in 0..<Self.maximumAttempts {
            var transaction = StateTransaction(replica.state)
            let value = try body(&transaction)
            if try commit(transaction.changes) == .committed {
                transactions += 1
                return value
            }
            conflicts += 1
        }
        throw StoreError.overloaded
    }

    private func commit(_ changes: [Change]) throws(StoreError) -> Committer.Outcome {
        let plan = CommitPlan(changes, on: replica, schema: loader.schema)
        defer { tell() }
        do {
            return try committer.commit(plan, to: &replica)
        } catch {
            follower.doubtOwn(Set(plan.keys))
            throw error
        }
    }

    /// Forgets revocations whose last token has expired; the database drops them by itself.
    func dropExpired(at now: WallTime) {
        for entry in replica.state.expiredRevocations(at: now) {
            replica.remove(key: loader.schema.record(Record.revocation(entry).id))
        }
        tell()
    }

    private func tell() { if replica.revision != toldRevision { tellAlways() } }

    private func tellAlways() {
        toldRevision = replica.revision
        onChange(replica.state)
    }
}
