import Admission
import EventLoop
import STUN
import Wire

/// Where all workers find sessions: by ufrag for checks, by id for PATCH and DELETE, by source for rebinding (DESIGN 4).
///
/// Sharded, a mutex per shard, held for one dictionary access.
public final class SessionDirectory: Sendable {
    private let byUfrag = ShardedTable<LocalUfrag>()
    private let byID = ShardedTable<String>()
    private let bySource = ShardedTable<UInt32>()
    private let pending = Lock<PendingSessions>(PendingSessions())
    private let finished = Lock<[SessionEntry]>([])

    public init() {}

    /// The session that a check with our `ufrag` belongs to.
    func entry(ufrag: LocalUfrag) -> SessionEntry? { byUfrag[ufrag] }
    public func entry(id: String) -> SessionEntry? { byID[id] }
    /// The session that has this media source, for SRTP from tuples without a check (design note 17).
    func entry(source: UInt32) -> SessionEntry? { bySource[source] }

    /// Sessions that ended lately, oldest first: their stories are still to be told.
    public var recentlyFinished: [SessionEntry] { finished.withLock { $0 } }
    public func finishedEntry(id: String) -> SessionEntry? { finished.withLock { $0.last { $0.id == id } } }
    public var count: Int { byID.count }

    /// Makes a new session findable. Call it before its 201 is written.
    /// - Returns: the pending session of the same participant that it replaces; nil and `isAdded` false when the stage has too many.
    func add(_ entry: SessionEntry) -> (isAdded: Bool, replaced: SessionEntry?) {
        let (isAdded, replaced) = pending.withLock { $0.add(entry) }
        guard isAdded else { return (false, nil) }
        byID[entry.id] = entry
        if let credentials = entry.newestCredentials { byUfrag[credentials.ufrag] = entry }
        return (true, replaced)
    }

    func add(_ credentials: ICECredentials, for entry: SessionEntry) { byUfrag[credentials.ufrag] = entry }
    func remove(_ credentials: [ICECredentials]) { for old in credentials { byUfrag[old.ufrag] = nil } }
    func add(source: UInt32, for entry: SessionEntry) { bySource[source] = entry }
    func remove(sources: [UInt32], of entry: SessionEntry) { for source in sources { bySource.remove(source, ifHeldBy: entry) } }

    /// A session was claimed: it counts as pending no longer.
    func noLongerPending(_ entry: SessionEntry) { pending.withLock { $0.remove(entry) } }

    /// An ended session is found no longer; its story is kept for a while.
    func remove(_ entry: SessionEntry) {
        noLongerPending(entry)
        byID[entry.id] = nil
        remove(entry.content.withLock { $0.credentials })
        finished.withLock { finished in
            if finished.count >= Self.maximumFinished { finished.removeFirst() }
            finished.append(entry)
        }
    }

    var pendingCount: Int { pending.withLock { $0.count } }

    static let maximumFinished = 256
}

/// Sessions whose POST was answered and that nobody has claimed: one per participant, 24 per stage.
struct PendingSessions: Sendable {
    private var byParticipant: [String: SessionEntry] = [:]
    private var countByStage: [String: Int] = [:]

    var count: Int { byParticipant.count }

    mutating func add(_ entry: SessionEntry) -> (Bool, SessionEntry?) {
        let stage = entry.grant.stageID
        let replaced = byParticipant[entry.grant.participantID]
        if replaced == nil, countByStage[stage, default: 0] >= Self.maximumPerStage { return (false, nil) }
        if let replaced { remove(replaced) }
        byParticipant[entry.grant.participantID] = entry
        countByStage[stage, default: 0] += 1
        return (true, replaced)
    }

    mutating func remove(_ entry: SessionEntry) {
        guard byParticipant[entry.grant.participantID] === entry else { return }
        byParticipant[entry.grant.participantID] = nil
        let left = countByStage[entry.grant.stageID, default: 1] - 1
        countByStage[entry.grant.stageID] = left == 0 ? nil : left
    }

    static let maximumPerStage = 24
}

/// A dictionary in 16 parts, each behind a mutex of its own.
final class ShardedTable<Key: Hashable & Sendable>: Sendable {
    private let shards = (0..<16).map { _ in Lock<[Key: SessionEntry]>([:]) }

    subscript(key: Key) -> SessionEntry? {
        get { shard(key).withLock { $0[key] } }
        set { shard(key).withLock { $0[key] = newValue } }
    }

    func remove(_ key: Key, ifHeldBy entry: SessionEntry) {
        shard(key).withLock { table in if table[key] === entry { table[key] = nil } }
    }

    var count: Int { shards.reduce(0) { $0 + $1.withLock { $0.count } } }

    private func shard(_ key: Key) -> Lock<[Key: SessionEntry]> { shards[key.hashValue & 15] }
}
