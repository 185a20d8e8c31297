import Admission
import Refusals
import Settings
import Wire

/// Who publishes and who watches where, and what follows from it for the stages' sessions and for the history. Pure: the clock
/// and the lock are its owner's.
struct LeaseTable {
    struct Outcome: Sendable {
        var answer: ClaimAnswer
        /// Has to be told that its lease is gone.
        var displaced: (any LeaseHolder)?
    }

    private static let full = "This gateway is at its limit of publishers: end one of them, or raise quotas.publishers."

    /// By the lease's participant.
    private(set) var held: [ParticipantKey: HeldPublish] = [:]
    private(set) var sessions: StageSessionTable
    private(set) var viewers: ViewerTable
    private let quotas: QuotaSettings
    private var lastGeneration: UInt64

    /// - Parameter node: its name in a cluster.
    init(
        quotas: QuotaSettings, sessions: [StageSession], lastGeneration: UInt64, node: String? = nil, now: WallTime
    ) {
        (self.quotas, self.lastGeneration, viewers) = (quotas, lastGeneration, ViewerTable(node: node))
        self.sessions = StageSessionTable(recorded: sessions, now: now)
    }

    mutating func claim(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, _ holder: any LeaseHolder, takeOver: Bool, now: WallTime
    ) -> Outcome {
        let key = grant.participant
        if let incumbent = held[key] {
            guard takeOver else { return Outcome(answer: .held(by: incumbent.holder)) }
            var lease = incumbent.lease
            lease.generation = nextGeneration(now)
            return Outcome(answer: .granted(lease), displaced: held[key]?.pass(to: holder, lease, grant, ingestProtocol))
        }
        guard held.count < quotas.publishers else {
            return Outcome(answer: .refused(Refusal(.overloaded, sentence: Self.full)))
        }
        guard hasRoom(for: grant) else { return Outcome(answer: .refused(Refusal(.stageFull))) }
        let lease = PublishLease(
            participantID: grant.participantID, stageID: grant.stageID,
            stageSessionID: sessions.id(ofStage: grant.stageARN, now: now), generation: nextGeneration(now))
        sessions.enter(grant.stageARN)
        held[key] = HeldPublish(lease, grant, ingestProtocol, holder: holder, joinedAt: now)
        return Outcome(answer: .granted(lease))
    }

    mutating func release(_ lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        guard let publish = remove(lease, now: now) else { return [] }
        if publish.wasTest { sessions.noteTest(onStage: publish.grant.stageARN) }
        return publish.ending(isWatching: viewers[lease.participant] != nil, now: now)
    }

    mutating func wasTest(_ lease: PublishLease) -> [HistoryWrite] {
        if find(lease) != nil { held[lease.participant]?.noteTest() }
        return []
    }

    mutating func started(_ lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        guard let publish = find(lease) else { return [] }
        let node = viewers.node(of: lease.participant)
        guard !publish.isPublishing else { return held[lease.participant]?.goOn(node: node) ?? [] }
        let joined = announce(lease)
        return joined + (held[lease.participant]?.start(node: node, now: now) ?? [])
    }

    mutating func warned(_ lease: PublishLease, _ warning: HeldPublish.Warning, now: WallTime) -> [HistoryWrite] {
        guard find(lease) != nil else { return [] }
        return held[lease.participant]?.warned(warning, now: now) ?? []
    }

    mutating func failed(_ lease: PublishLease, errorCode: String, now: WallTime) -> [HistoryWrite] {
        guard let publish = find(lease) else { return [] }
        return announce(lease) + [publish.failed(errorCode: errorCode, now: now)]
    }

    /// An error of a participant that holds no lease goes into the running session, or begins one.
    mutating func refused(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, errorCode: String, now: WallTime
    ) -> [HistoryWrite] {
        let publish = RefusedPublish(
            grant: grant, ingestProtocol: ingestProtocol, sessionID: sessions.id(ofStage: grant.stageARN, now: now),
            errorCode: errorCode, time: now)
        let isPresent = held[grant.participant] != nil || viewers[grant.participant] != nil
        return sessions.record(ofStage: grant.stageARN) + publish.writes(isPresent: isPresent)
    }

    mutating func endIdleSessions(now: WallTime) -> [HistoryWrite] { sessions.endIdle(after: quotas.sessionLinger, now: now) }
}

/// Leases and sessions that were decided about elsewhere.
extension LeaseTable {
    /// Gives the participant's present lease back if it belongs to another stage session than the one to come.
    mutating func makeRoom(for lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        guard let old = held[lease.participant], old.lease.stageSessionID != lease.stageSessionID else { return [] }
        return release(old.lease, now: now)
    }

    mutating func insert(
        _ entry: LocalLeases.Entry, _ ingestProtocol: IngestProtocol, session: StageSession, now: WallTime
    ) -> (any LeaseHolder)? {
        begin(session, now: now)
        let key = entry.lease.participant
        if let displaced = held[key]?.pass(to: entry.holder, entry.lease, entry.grant, ingestProtocol) { return displaced }
        sessions.enter(entry.grant.stageARN)
        held[key] = HeldPublish(entry.lease, entry.grant, ingestProtocol, holder: entry.holder, joinedAt: now)
        return nil
    }

    /// The stage's running session is this one.
    /// - Parameter isRecorded: the history knows it.
    mutating func begin(_ session: StageSession, isRecorded: Bool = false, now: WallTime) {
        guard sessions[session.stageARN]?.sessionID != session.sessionID else { return }
        let publishers = held.values.count { $0.grant.stageARN == session.stageARN }
        let watching = viewers.values.count { $0.grant.stageARN == session.stageARN }
        sessions.replace(with: session, isRecorded: isRecorded, present: publishers + watching, idleSince: now)
    }

    /// A session's end is for all nodes to see: here it is known as long as somebody publishes or watches.
    mutating func forgetDesertedSessions() { sessions.forgetDeserted() }

    /// Ends the publish in the history, which was told so already, and begins it again.
    mutating func revive(_ lease: PublishLease, generation: UInt64, now: WallTime) -> [HistoryWrite] {
        guard let former = find(lease) else { return [] }
        held[lease.participant]?.revive(generation: generation, now: now)
        return former.ending(isWatching: viewers[lease.participant] != nil, now: now)
            + sessions.beginning(again: lease.stageSessionID, ofStage: former.grant.stageARN)
            + (former.isPublishing ? started(lease, now: now) : [])
    }
}

/// The table leaves for another process, or comes from one (docs/design.md 4.6: one of them admits at a time).
extension LeaseTable {
    func handed(_ publish: HeldPublish) -> HandedLease? {
        let arn = publish.grant.stageARN
        return sessions[arn].map { publish.handed(in: $0, isSessionRecorded: sessions.recorded(ofStage: arn) != nil) }
    }

    /// The entry of exactly this lease, as it is told.
    func handed(_ lease: PublishLease) -> HandedLease? { find(lease).flatMap { handed($0) } }

    /// Takes a lease of the other process over, or what has changed about it; one that was claimed anew here stays.
    mutating func adopt(_ handed: HandedLease, holder: any LeaseHolder) {
        let key = handed.lease.participant
        let known = held[key]
        guard known == nil || known?.lease == handed.lease else { return }
        let arn = handed.grant.stageARN
        if sessions[arn]?.sessionID != handed.session.sessionID {
            sessions.replace(with: handed.session, isRecorded: false, idleSince: handed.joinedAt)
        }
        if handed.isSessionRecorded { sessions.noteRecorded(ofStage: arn) }
        if known == nil { sessions.enter(arn) }
        held[key] = HeldPublish(handed, holder: known?.holder ?? holder)
        lastGeneration = max(lastGeneration, handed.lease.generation)
    }

    /// The other process gave this lease back and wrote so.
    mutating func forget(_ lease: PublishLease, now: WallTime) {
        _ = remove(lease, now: now)
    }

    /// The other process has died: what it took over from us is over, sessions that it began go on here.
    mutating func takeBack(_ recovered: EmbeddedStore.Recovered, now: WallTime) {
        for entry in held.values where entry.holder.hasEnded { forget(entry.lease, now: now) }
        lastGeneration = max(lastGeneration, recovered.highestGeneration)
        sessions.takeUp(recovered.activeSessions, now: now)
    }
}

/// Those who watch: they open and keep a stage's session as publishers do.
extension LeaseTable {
    mutating func watchStarted(_ watching: Watching, now: WallTime) -> [HistoryWrite] {
        let (key, arn) = (watching.grant.participant, watching.grant.stageARN)
        let sessionID = sessions.id(ofStage: arn, now: now)
        if viewers[key] == nil { sessions.enter(arn) }
        let writes = sessions.record(ofStage: arn)
        let watched = ParticipantKey(watching.participantID, onStage: watching.grant.stageID)
        return writes
            + viewers.start(
                watching, isReplica: held[watched]?.grant.replica != nil, sessionID: sessionID,
                generation: generation(of: key) ?? nextGeneration(now), isPresent: isAnnounced(key), now: now)
    }

    mutating func watchStopped(_ watching: Watching, now: WallTime) -> [HistoryWrite] {
        let (key, arn) = (watching.grant.participant, watching.grant.stageARN)
        let wasThere = viewers[key] != nil
        let writes = viewers.stop(watching, isPresent: isAnnounced(key), now: now)
        if wasThere, viewers[key] == nil { sessions.leave(arn, now: now) }
        return writes
    }

    /// An error goes into the running session; where there is none, nobody looks for it.
    mutating func watchRefused(_ watching: Watching, errorCode: String, now: WallTime) -> [HistoryWrite] {
        let key = watching.grant.participant
        guard let session = sessions.recorded(ofStage: watching.grant.stageARN) else { return [] }
        // Without one of its own it overtakes nothing: the participant may be there through another node.
        return viewers.refused(
            watching, sessionID: session.sessionID, generation: generation(of: key) ?? 0, errorCode: errorCode,
            isPresent: isAnnounced(key), now: now)
    }

    /// The viewers of a stage join again: the history was told that they left, or their session is another one now.
    mutating func moveViewers(ofStage arn: String, now: WallTime) -> [HistoryWrite] {
        guard let session = sessions[arn] else { return [] }
        let publishers = held.filter { $0.value.isAnnounced }.mapValues(\.generation)
        let generation = nextGeneration(now)
        let again = sessions.beginning(again: session.sessionID, ofStage: arn)
        return (again.isEmpty ? sessions.record(ofStage: arn) : again)
            + viewers.move(
                ofStage: arn, to: session.sessionID, isPresent: { publishers[$0] != nil }, now: now,
                generation: { publishers[$0] ?? generation })
    }

    private func isAnnounced(_ key: ParticipantKey) -> Bool { held[key]?.isAnnounced ?? false }

    /// One participant has one generation at a time: that of its publish, where it has one; nil for who does not watch either.
    private func generation(of key: ParticipantKey) -> UInt64? {
        if let publish = held[key], publish.isAnnounced { return publish.generation }
        return viewers[key]?.generation
    }
}

// MARK: - Parts

extension LeaseTable {
    /// The publish of exactly this lease: a lease of an older generation is nobody's any more.
    private func find(_ lease: PublishLease) -> HeldPublish? {
        held[lease.participant].flatMap { $0.lease == lease ? $0 : nil }
    }

    private mutating func remove(_ lease: PublishLease, now: WallTime) -> HeldPublish? {
        guard let publish = find(lease) else { return nil }
        held[lease.participant] = nil
        sessions.leave(publish.grant.stageARN, now: now)
        return publish
    }

    /// A redundant pair of encoders is one publisher.
    private func hasRoom(for grant: PublishGrant) -> Bool {
        var publishers: Set = [grant.ingestConfigurationARN ?? grant.participantID]
        // By their keys: to look at all the gateway's publishes would copy each of them.
        for key in held.keys where key.stageID == grant.stageID {
            if let other = held[key]?.grant { publishers.insert(other.ingestConfigurationARN ?? other.participantID) }
        }
        return publishers.count <= quotas.publishersPerStage
    }

    private mutating func nextGeneration(_ now: WallTime) -> UInt64 {
        // Wraps: the process before us may have told of any number.
        lastGeneration = max(lastGeneration &+ 1, UInt64(max(0, now.millisecondsSince1970)))
        return lastGeneration
    }

    /// Tells the history of a publish's participant, unless it was told.
    private mutating func announce(_ lease: PublishLease) -> [HistoryWrite] {
        let key = lease.participant
        guard var publish = held[key], !publish.isAnnounced else { return [] }
        let joined = publish.announce(isWatching: viewers[key] != nil, node: viewers.node(of: key))
        held[key] = publish
        viewers.adopt(publish.generation, key)
        return sessions.record(ofStage: publish.grant.stageARN) + joined
    }
}
