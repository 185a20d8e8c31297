import Admission
import Refusals
import Settings
import Wire

/// Who publishes where, and the sessions that follow from it. Pure: the clock and the lock are its owner's.
struct LeaseTable {
    struct Held {
        var lease: PublishLease
        var grant: PublishGrant
        var ingestProtocol: IngestProtocol
        var holder: any LeaseHolder
        var joinedAt: WallTime
        /// Whether JOINED has been recorded.
        var isAnnounced = false
        var isPublishing = false
        /// It was a network test, and is about to end.
        var wasTest = false
        /// Under which the history knows it, where that is not the lease's own (`revive`).
        var revivedGeneration: UInt64?
        /// What is told once the publish has started; if it never does, they leave no trace.
        var earlyWarnings: [Warning] = []
    }

    struct Warning {
        var rule: String
        var sentence: String
    }

    /// There are no more rules than this, and each warns once before a publish starts.
    private static let maximumEarlyWarnings = 16

    struct Outcome: Sendable {
        var answer: ClaimAnswer
        /// Has to be told that its lease is gone.
        var displaced: (any LeaseHolder)?
    }

    private static let full = "This gateway is at its limit of publishers: end one of them, or raise quotas.publishers."

    private(set) var held: [ParticipantKey: Held] = [:]
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
        if var incumbent = held[key] {
            guard takeOver else { return Outcome(answer: .held(by: incumbent.holder)) }
            let displaced = incumbent.holder
            incumbent.lease.generation = nextGeneration(now)
            (incumbent.holder, incumbent.grant, incumbent.ingestProtocol) = (holder, grant, ingestProtocol)
            held[key] = incumbent
            return Outcome(answer: .granted(incumbent.lease), displaced: displaced)
        }
        guard held.count < quotas.publishers else {
            return Outcome(answer: .refused(Refusal(.overloaded, sentence: Self.full)))
        }
        guard hasRoom(for: grant) else { return Outcome(answer: .refused(Refusal(.stageFull))) }
        let lease = PublishLease(
            participantID: grant.participantID, stageID: grant.stageID,
            stageSessionID: sessions.id(ofStage: grant.stageARN, now: now), generation: nextGeneration(now))
        sessions.enter(grant.stageARN)
        held[key] = Held(lease: lease, grant: grant, ingestProtocol: ingestProtocol, holder: holder, joinedAt: now)
        return Outcome(answer: .granted(lease))
    }

    mutating func release(_ lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        guard let (key, entry) = find(lease) else { return [] }
        remove(entry, at: key, now)
        if entry.wasTest { sessions.noteTest(onStage: entry.grant.stageARN) }
        return ending(entry, now: now)
    }

    mutating func wasTest(_ lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        if let (key, _) = find(lease) { held[key]?.wasTest = true }
        return []
    }

    /// What the history is told of a publish that ends.
    private func ending(_ entry: Held, now: WallTime) -> [HistoryWrite] {
        guard entry.isAnnounced else { return [] }
        let stopped = entry.isPublishing ? [event(.publishStopped, entry, now)] : []
        // Who also watches stays.
        if viewers[entry.lease.participant] != nil { return stopped }
        let left = stopped + [event(.left, entry, now), participant(entry, isConnected: false)]
        guard entry.wasTest else { return left }
        return left + [
            .wasTest(
                stageARN: entry.grant.stageARN, sessionID: entry.lease.stageSessionID, participantID: entry.lease.participantID,
                generation: entry.revivedGeneration ?? entry.lease.generation)
        ]
    }

    mutating func started(_ lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        guard let (key, entry) = find(lease), !entry.isPublishing else { return [] }
        let joined = announce(key)
        held[key]?.isPublishing = true
        guard let entry = held[key] else { return joined }
        held[key]?.earlyWarnings = []
        let warnings = entry.earlyWarnings.map { event(.publishWarning, entry, now, warning: $0) }
        return joined + [event(.publishStarted, entry, now), participant(entry, isConnected: true)] + warnings
    }

    mutating func warned(_ lease: PublishLease, _ warning: Warning, now: WallTime) -> [HistoryWrite] {
        guard let (key, entry) = find(lease) else { return [] }
        if entry.isPublishing { return [event(.publishWarning, entry, now, warning: warning)] }
        if entry.earlyWarnings.count < Self.maximumEarlyWarnings { held[key]?.earlyWarnings.append(warning) }
        return []
    }

    mutating func failed(_ lease: PublishLease, errorCode: String, now: WallTime) -> [HistoryWrite] {
        guard let (key, entry) = find(lease) else { return [] }
        return announce(key) + [event(.publishError, entry, now, errorCode: errorCode)]
    }

    /// An error of a participant that holds no lease goes into the running session, or begins one.
    mutating func refused(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, errorCode: String, now: WallTime
    ) -> [HistoryWrite] {
        let sessionID = sessions.id(ofStage: grant.stageARN, now: now)
        func error(_ name: ParticipantEvent.Name) -> HistoryWrite {
            var event = ParticipantEvent(
                name: name, time: now, stageARN: grant.stageARN, sessionID: sessionID,
                participantID: grant.participantID, userID: grant.userID, errorCode: errorCode)
            event.isReplica = grant.replica != nil
            return .event(event)
        }
        var writes = sessions.record(ofStage: grant.stageARN)
        if held[grant.participant] == nil {
            var participant = Participant(grant, ingestProtocol, sessionID: sessionID, firstJoinTime: now)
            participant.isConnected = false
            writes.append(.participant(participant))
            if Self.joinErrorCodes.contains(errorCode) { writes.append(error(.joinError)) }
        }
        return writes + [error(.publishError)]
    }

    /// Of `EventErrorCode`, what keeps a participant out whatever it would publish.
    private static let joinErrorCodes: Set = [
        "INSUFFICIENT_CAPABILITIES", "INTERNAL_SERVER_EXCEPTION", "INVALID_PROTOCOL", "INVALID_STREAM_KEY", "QUOTA_EXCEEDED",
        "REUSE_OF_STREAM_KEY",
    ]

    mutating func endIdleSessions(now: WallTime) -> [HistoryWrite] { sessions.endIdle(after: quotas.sessionLinger, now: now) }
}

/// Leases and sessions that were decided about elsewhere.
extension LeaseTable {
    /// What becomes of the participant's present lease, if it belongs to another stage session than the one to come.
    mutating func makeRoom(for lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        let key = lease.participant
        guard let old = held[key], old.lease.stageSessionID != lease.stageSessionID else { return [] }
        return release(old.lease, now: now)
    }

    mutating func insert(
        _ entry: LocalLeases.Entry, _ ingestProtocol: IngestProtocol, session: StageSession, now: WallTime
    ) -> (any LeaseHolder)? {
        begin(session, now: now)
        let key = entry.lease.participant
        if var incumbent = held[key] {
            let displaced = incumbent.holder
            (incumbent.lease, incumbent.grant, incumbent.holder) = (entry.lease, entry.grant, entry.holder)
            (incumbent.ingestProtocol, incumbent.revivedGeneration) = (ingestProtocol, nil)
            held[key] = incumbent
            return displaced
        }
        sessions.enter(entry.grant.stageARN)
        held[key] = Held(
            lease: entry.lease, grant: entry.grant, ingestProtocol: ingestProtocol, holder: entry.holder, joinedAt: now)
        return nil
    }

    /// The stage's running session is this one.
    /// - Parameter isRecorded: the history knows it.
    mutating func begin(_ session: StageSession, isRecorded: Bool = false, now: WallTime) {
        guard sessions[session.stageARN]?.sessionID != session.sessionID else { return }
        let publishers = held.values.count { $0.grant.stageARN == session.stageARN }
        let watching = viewers.viewers.values.count { $0.grant.stageARN == session.stageARN }
        sessions.replace(with: session, isRecorded: isRecorded, present: publishers + watching, idleSince: now)
    }

    /// A session's end is for all nodes to see: here it is known as long as somebody publishes or watches.
    mutating func forgetDesertedSessions() { sessions.forgetDeserted() }

    /// Ends the publish in the history, which was told so already, and begins it again.
    mutating func revive(_ lease: PublishLease, generation: UInt64, now: WallTime) -> [HistoryWrite] {
        guard let (key, found) = find(lease) else { return [] }
        var entry = found
        let (isPublishing, ended) = (entry.isPublishing, ending(entry, now: now))
        (entry.isAnnounced, entry.isPublishing, entry.revivedGeneration, entry.joinedAt) = (false, false, generation, now)
        held[key] = entry
        return ended + sessions.beginning(again: lease.stageSessionID, ofStage: entry.grant.stageARN)
            + (isPublishing ? started(lease, now: now) : [])
    }
}

/// The table leaves for another process, or comes from one (docs/design.md 4.6: one of them admits at a time).
extension LeaseTable {
    func handed(_ entry: Held) -> HandedLease? {
        guard let session = sessions[entry.grant.stageARN] else { return nil }
        return HandedLease(
            lease: entry.lease, grant: entry.grant, ingestProtocol: entry.ingestProtocol, joinedAt: entry.joinedAt,
            isAnnounced: entry.isAnnounced, isPublishing: entry.isPublishing, session: session,
            isSessionRecorded: sessions.recorded(ofStage: entry.grant.stageARN) != nil)
    }

    /// The entry of exactly this lease, as it is told.
    func handed(_ lease: PublishLease) -> HandedLease? { find(lease).flatMap { handed($0.1) } }

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
        held[key] = Held(
            lease: handed.lease, grant: handed.grant, ingestProtocol: handed.ingestProtocol, holder: known?.holder ?? holder,
            joinedAt: handed.joinedAt, isAnnounced: handed.isAnnounced, isPublishing: handed.isPublishing)
        lastGeneration = max(lastGeneration, handed.lease.generation)
    }

    /// The other process gave this lease back and wrote so.
    mutating func forget(_ lease: PublishLease, now: WallTime) {
        guard let (key, entry) = find(lease) else { return }
        remove(entry, at: key, now)
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
                generation: viewerGeneration(key, now), isPresent: isAnnounced(key), now: now)
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
        return viewers.refused(
            watching, sessionID: session.sessionID, generation: viewerGeneration(key, now), errorCode: errorCode,
            isPresent: isAnnounced(key), now: now)
    }

    /// The viewers of a stage come again: the history was told that they left, or their session is another one now.
    mutating func moveViewers(ofStage arn: String, now: WallTime) -> [HistoryWrite] {
        guard let session = sessions[arn] else { return [] }
        let publishers = held.filter { $0.value.isAnnounced }.mapValues { $0.revivedGeneration ?? $0.lease.generation }
        let generation = nextGeneration(now)
        let again = sessions.beginning(again: session.sessionID, ofStage: arn)
        return (again.isEmpty ? sessions.record(ofStage: arn) : again)
            + viewers.move(
                ofStage: arn, to: session.sessionID, isPresent: { publishers[$0] != nil }, now: now,
                generation: { publishers[$0] ?? generation })
    }

    private func isAnnounced(_ key: ParticipantKey) -> Bool { held[key]?.isAnnounced ?? false }

    /// One participant has one generation at a time: that of its publish, where it has one.
    private mutating func viewerGeneration(_ key: ParticipantKey, _ now: WallTime) -> UInt64 {
        if let publish = held[key], publish.isAnnounced { return publish.revivedGeneration ?? publish.lease.generation }
        return viewers[key]?.generation ?? nextGeneration(now)
    }
}

// MARK: - Parts

extension LeaseTable {
    /// The entry of exactly this lease: a lease of an older generation is nobody's any more.
    private func find(_ lease: PublishLease) -> (ParticipantKey, Held)? {
        let key = lease.participant
        guard let entry = held[key], entry.lease == lease else { return nil }
        return (key, entry)
    }

    private mutating func remove(_ entry: Held, at key: ParticipantKey, _ now: WallTime) {
        held[key] = nil
        sessions.leave(entry.grant.stageARN, now: now)
    }

    /// A redundant pair of encoders is one publisher.
    private func hasRoom(for grant: PublishGrant) -> Bool {
        var publishers: Set = [grant.ingestConfigurationARN ?? grant.participantID]
        for entry in held.values where entry.grant.stageARN == grant.stageARN {
            publishers.insert(entry.grant.ingestConfigurationARN ?? entry.grant.participantID)
        }
        return publishers.count <= quotas.publishersPerStage
    }

    private mutating func nextGeneration(_ now: WallTime) -> UInt64 {
        // Wraps: the process before us may have told of any number.
        lastGeneration = max(lastGeneration &+ 1, UInt64(max(0, now.millisecondsSince1970)))
        return lastGeneration
    }

    private mutating func announce(_ key: ParticipantKey) -> [HistoryWrite] {
        guard let entry = held[key], !entry.isAnnounced else { return [] }
        held[key]?.isAnnounced = true
        let isWatching = viewers[key] != nil
        viewers.adopt(entry.revivedGeneration ?? entry.lease.generation, key)
        return sessions.record(ofStage: entry.grant.stageARN) + [participant(entry, isConnected: true)]
            + (isWatching ? [] : [event(.joined, entry, entry.joinedAt)])
    }

    private func event(
        _ name: ParticipantEvent.Name, _ entry: Held, _ time: WallTime, errorCode: String = "", warning: Warning? = nil
    ) -> HistoryWrite {
        var event = ParticipantEvent(
            name: name, time: time, stageARN: entry.grant.stageARN, sessionID: entry.lease.stageSessionID,
            participantID: entry.grant.participantID, userID: entry.grant.userID, errorCode: errorCode,
            generation: entry.revivedGeneration ?? entry.lease.generation)
        (event.rule, event.sentence) = (warning?.rule ?? "", warning?.sentence ?? "")
        event.isReplica = entry.grant.replica != nil
        return .event(event)
    }

    private func participant(_ entry: Held, isConnected: Bool) -> HistoryWrite {
        var participant = Participant(
            entry.grant, entry.ingestProtocol, sessionID: entry.lease.stageSessionID, firstJoinTime: entry.joinedAt)
        (participant.isConnected, participant.published) = (isConnected, entry.isPublishing)
        participant.generation = entry.revivedGeneration ?? entry.lease.generation
        if viewers[entry.lease.participant] != nil { participant.node = viewers.node }
        return .participant(participant)
    }
}

extension Participant {
    fileprivate init(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, sessionID: String, firstJoinTime: WallTime
    ) {
        self.init(
            stageARN: grant.stageARN, sessionID: sessionID, participantID: grant.participantID, userID: grant.userID,
            attributes: grant.attributes, firstJoinTime: firstJoinTime, ingestProtocol: ingestProtocol.rawValue,
            ingestConfigurationARN: grant.ingestConfigurationARN ?? "",
            client: ClientAttributes(userAgent: grant.userAgent))
    }
}
