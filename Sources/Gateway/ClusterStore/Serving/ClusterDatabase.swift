import EventLoop
import Redis
import Settings
import Store
import Wire

/// One process's copy of a cluster's configuration, and its way to change it. Confined to a thread that may wait.
final class ClusterDatabase {
    /// A transaction that finds newer records so many times is refused as overload.
    static let maximumAttempts = 10
    /// Of the stream of commits, read one after the other: it never has as many.
    static let maximumPages = 2 * Committer.maximumChanges / Loader.page

    /// Told of each new state, before whoever changed it is answered.
    var onChange: (StoreState) -> Void = { _ in }
    private(set) var copy = LocalCopy()
    /// Records that could not be understood when all were read.
    private(set) var unreadable: [String] = []
    /// Transactions that were run again because another node was faster.
    private(set) var conflicts = 0
    var replicaMisses: Int { committer.replicaMisses }
    let loader: Loader
    private var committer: Committer
    private var follower: ChangeFollower
    private let monotonicNow: () -> MonotonicTime
    private var toldRevision: UInt64 = 0

    /// - Parameter node: of this process alone, so that it knows its own commits.
    init(
        server: any DatabaseServer, schema: KeySchema, codec: RecordCodec, node: String,
        monotonicNow: @escaping () -> MonotonicTime = { EventLoop.monotonicNow() }
    ) {
        loader = Loader(server: server, schema: schema, codec: codec, node: node)
        committer = Committer(server: server, schema: schema, codec: codec, node: node)
        follower = ChangeFollower(node: node, position: "")
        self.monotonicNow = monotonicNow
    }

    /// - Parameter snapshot: what another connection of this process has read; without one nothing is known yet.
    convenience init(
        server: any DatabaseServer, settings: RedisStoreSettings, process: String, continuing snapshot: Snapshot? = nil
    ) {
        let codec = RecordCodec(cipher: RecordCipher(settings.platformKey))
        self.init(server: server, schema: KeySchema(prefix: settings.cluster.keyPrefix), codec: codec, node: process)
        guard let snapshot else { return }
        (copy, follower, toldRevision) = (snapshot.copy, snapshot.follower, snapshot.copy.revision)
        committer = Committer(
            server: server, schema: loader.schema, codec: codec, node: process, progress: snapshot.progress)
    }

    /// What a process knows of the cluster, to go on with over another connection.
    struct Snapshot: Sendable {
        fileprivate(set) var copy: LocalCopy
        fileprivate var follower: ChangeFollower
        fileprivate var progress: Committer.Progress
        fileprivate(set) var unreadable: [String]

        var state: StoreState { copy.state }
    }

    var snapshot: Snapshot {
        Snapshot(copy: copy, follower: follower, progress: committer.progress, unreadable: unreadable)
    }

    var history: ClusterHistory { ClusterHistory(server: loader.server, schema: loader.schema, state: copy.state) }

    /// When there is something to read again although nobody says so.
    var deadline: MonotonicTime? { follower.deadline }

    /// Makes sure that the database is this cluster's.
    /// - Parameter makesPlatform: one that is nobody's becomes this cluster's, which the first node that comes decides.
    /// - Throws: `.failed` when it was made with another key, or is nobody's.
    func verify(makesPlatform: Bool) throws(StoreError) {
        let (server, key, check) = (loader.server, loader.schema.check, loader.codec.cipher.check)
        if makesPlatform { _ = try server.ask(.init("SETNX", .init(key), .init(check)), key: key) }
        guard try isOurs() else {
            throw .failed(
                reason: "the platform key is another one than that with which this platform's database was made"
                    + (makesPlatform ? "" : ", or it has lost its data"))
        }
    }

    /// Whether the database is this cluster's still, and has not lost its data. The lists of records may be on another server
    /// than the check key; some of their settings always stay.
    func hasData() throws(StoreError) -> Bool {
        guard try isOurs() else { return false }
        guard copy.state.records.contains(where: { if case .setting = $0 { true } else { false } }) else { return true }
        return try !loader.listings(of: .settings).isEmpty
    }

    private func isOurs() throws(StoreError) -> Bool {
        let key = loader.schema.check
        return try loader.server.ask(.init("GET", .init(key)), key: key).text == loader.codec.cipher.check
    }

    /// Reads everything.
    func reload() throws(StoreError) {
        let loaded = try loader.loadAll()
        (copy, unreadable) = (loaded.copy, loaded.unreadable)
        tellAlways()
        follower = ChangeFollower(node: follower.node, position: loaded.position)
    }

    enum CaughtUp: Equatable {
        case followed(unreadable: [String])
        /// The stream does not tell all that has happened since it was read last, or does not end: everything is to be read.
        case lostTrack
    }

    /// Reads what other nodes changed since the last time.
    func catchUp() throws(StoreError) -> CaughtUp {
        for _ in 0..<Self.maximumPages {
            guard let entries = try loader.changes(after: follower.position, newest: newestEntry) else { return .lostTrack }
            // Should the next page or the records not come, these are read another time.
            let keys = follower.read(entries, at: monotonicNow())
            follower.markUncertain(keys)
            if entries.count < Loader.page { return .followed(unreadable: try reloadDue()) }
        }
        return .lostTrack
    }

    /// - Returns: records that cannot be understood.
    private func reloadDue() throws(StoreError) -> [String] {
        let keys = follower.takeDue(at: monotonicNow())
        guard !keys.isEmpty else { return [] }
        do {
            defer { tell() }
            return try loader.reload(keys, into: &copy)
        } catch {
            follower.markUncertain(keys)
            throw error
        }
    }

    /// Of those read and our own the later: what a server that lost its newest writes has not.
    private var newestEntry: String {
        guard let own = committer.progress.lastEntry.flatMap(EventNumber.init), let read = EventNumber(follower.position) else {
            return follower.position
        }
        return own.sequence >= read.sequence ? own.streamID : follower.position
    }

    /// Runs `body` on the copy, and again while other nodes are faster, until its changes are in the database.
    ///
    /// - Throws: what `body` throws; `StoreError.away` when the database does not answer, and then `overloaded` if conflicts do
    ///   not end.
    func write<Value>(_ body: (inout StateTransaction) throws -> Value) throws -> Value {
        for _ in 0..<Self.maximumAttempts {
            var transaction = StateTransaction(copy.state)
            let value = try body(&transaction)
            if try commit(transaction.changes) == .committed { return value }
            conflicts += 1
        }
        throw StoreError.overloaded
    }

    private func commit(_ changes: [Change]) throws(StoreError) -> Committer.Outcome {
        let plan = CommitPlan(changes, on: copy, schema: loader.schema)
        defer { tell() }
        do {
            return try committer.commit(plan, to: &copy)
        } catch {
            follower.markUncertain(Set(plan.keys))
            throw error
        }
    }

    /// Revocations whose last token has expired by our clock are read again, as the database drops them by its own: one that a
    /// clock ahead of the others' took for over would let its tokens in once that is right again.
    func doubtExpired(at now: WallTime) {
        follower.markUncertain(Set(copy.state.expiredRevocations(at: now).map { loader.schema.record(Record.revocation($0).id) }))
    }

    private func tell() { if copy.revision != toldRevision { tellAlways() } }

    private func tellAlways() {
        toldRevision = copy.revision
        onChange(copy.state)
    }
}

/// The lists of records are only there to find them, and can be made anew from the records.
extension ClusterDatabase {
    /// A walk over all keys that takes longer is given up, with nothing changed.
    private static let maximumWalk = Duration.seconds(600)
    /// Keys that a server looks at for one answer.
    private static let walkPage = 1_000

    /// Adds to the lists the records that they lack, and has every node read everything. Nodes may write meanwhile.
    ///
    /// What is listed and not there stays: everybody skips it, and some node may be about to make it.
    /// - Returns: how many entries were missing.
    func repairIndexes() throws(StoreError) -> Int {
        var missing = try walk(until: monotonicNow() + Self.maximumWalk)
        for index in KeySchema.Index.allCases { missing.subtract(try loader.listings(of: index)) }
        try loader.server.list(Array(missing), "SADD", schema: loader.schema)
        _ = try loader.announce(.repaired)
        return missing.count
    }

    /// What lists the records of all primaries.
    private func walk(until end: MonotonicTime) throws(StoreError) -> Set<KeySchema.Listing> {
        var listings: Set<KeySchema.Listing> = []
        for place in try loader.server.places() { try walk(until: end, of: place, into: &listings) }
        return listings
    }

    private func walk(
        until end: MonotonicTime, of place: String, into listings: inout Set<KeySchema.Listing>
    ) throws(StoreError) {
        let schema = loader.schema
        var cursor = "0"
        repeat {
            guard monotonicNow() < end else { throw .failed(reason: "SCAN has not ended within ten minutes") }
            let command = RedisCommand(
                "SCAN", RedisArgument(cursor), "MATCH", "\(schema.prefix){*", "COUNT", RedisArgument(Self.walkPage))
            guard let page = try loader.server.ask(command, key: place).elements, page.count == 2, let next = page[0].text else {
                throw .failed(reason: "SCAN answered something else")
            }
            let keys = page[1].elements?.compactMap(\.text) ?? []
            listings.formUnion(keys.compactMap { schema.listing(ofKey: $0) })
            cursor = next
        } while cursor != "0"
    }
}

extension DatabaseServer {
    /// One key for each primary: so many keys fall on every node of a cluster, down to a hundredth of its slots.
    fileprivate func places() throws(StoreError) -> [String] {
        let candidates = (0..<2_000).map { "place\($0)" }
        let owners: [RedisValue]
        do {
            owners = try ask(candidates.map { .command(RedisCommand("CLUSTER", "MYID"), key: $0) })
        } catch .failed {
            return [candidates[0]]  // no cluster: there is one primary
        }
        var places: [String: String] = [:]
        for (key, owner) in zip(candidates, owners) { if let owner = owner.text { places[owner] = key } }
        return Array(places.values)
    }
}
