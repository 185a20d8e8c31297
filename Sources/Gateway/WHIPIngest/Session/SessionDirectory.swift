import Admission
import EventLoop
import Refusals
import WebRTCTransport
import Wire

/// Where all workers find publishers' sessions by id, for PATCH and DELETE; those that nobody claimed, and those that ended.
public final class SessionDirectory: Sendable {
    private let byID = ShardedTable<String, SessionEntry>()
    private let pending = Lock<PendingSessions>(PendingSessions())
    private let finished = Lock<[SessionEntry]>([])

    public init() {}

    /// Sessions that are pending or live.
    public var count: Int { byID.count }

    /// Of them those that nobody has claimed.
    public var pendingCount: Int { pending.withLock { $0.count } }

    /// A session that is pending or live; nil for all others.
    public func entry(id: String) -> SessionEntry? { byID[id] }

    /// Sessions that ended lately, oldest first, 256 of them: their stories are still to be told.
    public var recentlyFinished: [SessionEntry] { finished.withLock { $0 } }

    func finishedEntry(id: String) -> SessionEntry? { finished.withLock { $0.last { $0.id == id } } }

    /// A session that ended within the last minute: its publisher may still ask why, or delete it, as OBS does after its
    /// close_notify.
    func justFinishedEntry(id: String, at now: MonotonicTime) -> SessionEntry? {
        guard let entry = finishedEntry(id: id), Self.hasJustEnded(entry, at: now) else { return nil }
        return entry
    }

    private static func hasJustEnded(_ entry: SessionEntry, at now: MonotonicTime) -> Bool {
        entry.content.withLock { $0.ending }.map { now - $0.time <= afterlife } ?? false
    }

    /// Makes a new session findable. Call it before its 201 is written.
    func add(_ entry: SessionEntry) -> PendingSessions.Addition {
        let addition = pending.withLock { $0.add(entry) }
        if case .added = addition { byID[entry.id] = entry }
        return addition
    }

    /// A session was claimed: it counts as pending no longer.
    func noLongerPending(_ entry: SessionEntry) { pending.withLock { $0.remove(entry) } }

    /// A session is found no longer, and nothing of it is kept.
    func forget(_ entry: SessionEntry) {
        noLongerPending(entry)
        byID[entry.id] = nil
    }

    /// An ended session is found no longer; its story is kept for a while.
    func finish(_ entry: SessionEntry) {
        forget(entry)
        let now = EventLoop.monotonicNow()
        finished.withLock { finished in
            if finished.count >= Self.maximumFinished { finished.remove(at: Self.dispensable(of: finished, at: now)) }
            finished.append(entry)
        }
    }

    /// The place of the oldest session; while it may still be asked for, of the oldest of the stage that has most: a stage drives
    /// out none but its own.
    private static func dispensable(of finished: [SessionEntry], at now: MonotonicTime) -> Int {
        guard let oldest = finished.first, hasJustEnded(oldest, at: now) else { return 0 }
        let counts = finished.reduce(into: [String: Int]()) { $0[$1.grant.stageID, default: 0] += 1 }
        let most = counts.values.max()
        return finished.firstIndex { counts[$0.grant.stageID] == most } ?? 0
    }

    /// Sessions that nobody has claimed.
    var pendingEntries: [SessionEntry] { pending.withLock { $0.entries } }

    static let maximumFinished = 256
    /// In which a publisher may ask why its session ended, or delete it.
    static let afterlife = Duration.seconds(60)
}

/// Sessions whose POST was answered and that nobody has claimed: one per participant, 24 per stage.
struct PendingSessions: Sendable {
    enum Addition {
        /// In place of the participant's pending session, if it had one.
        case added(replacing: SessionEntry?)
        case stageHasTooMany
    }

    private var byParticipant: [ParticipantKey: SessionEntry] = [:]
    private var countByStage: [String: Int] = [:]

    var count: Int { byParticipant.count }
    var entries: [SessionEntry] { Array(byParticipant.values) }

    mutating func add(_ entry: SessionEntry) -> Addition {
        let stage = entry.grant.stageID
        let replaced = byParticipant[entry.grant.participant]
        if replaced == nil, countByStage[stage, default: 0] >= Self.maximumPerStage { return .stageHasTooMany }
        if let replaced { remove(replaced) }
        byParticipant[entry.grant.participant] = entry
        countByStage[stage, default: 0] += 1
        return .added(replacing: replaced)
    }

    mutating func remove(_ entry: SessionEntry) {
        guard byParticipant[entry.grant.participant] === entry else { return }
        byParticipant[entry.grant.participant] = nil
        let left = countByStage[entry.grant.stageID, default: 1] - 1
        countByStage[entry.grant.stageID] = left == 0 ? nil : left
    }

    static let maximumPerStage = 24
}
