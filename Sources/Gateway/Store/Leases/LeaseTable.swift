import Admission
import Refusals
import Settings
import Wire

/// Who publishes where, and the sessions that follow from it. Pure: the clock and the lock are its owner's.
struct LeaseTable {
    struct Key: Hashable {
        var stageID: String
        var participantID: String

        init(stageID: String, participantID: String) { (self.stageID, self.participantID) = (stageID, participantID) }
    }

    struct Held {
        var lease: PublishLease
        var grant: PublishGrant
        var ingestProtocol: IngestProtocol
        var holder: any LeaseHolder
        var joinedAt: WallTime
        /// Whether JOINED has been recorded.
        var isAnnounced = false
        var isPublishing = false
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
    static let maximumEarlyWarnings = 16

    struct Session {
        var record: StageSession
        /// Whether the history knows it; until a participant is announced it does not.
        var isRecorded = false
        var publishers = 0
        /// When the last publisher left, or the beginning.
        var idleSince: WallTime
    }

    struct Outcome: Sendable {
        var answer: ClaimAnswer
        /// Has to be told that its lease is gone.
        var displaced: (any LeaseHolder)?
    }

    private static let full = "This gateway is at its limit of publishers: end one of them, or raise quotas.publishers."

    var held: [Key: Held] = [:]
    /// By stage ARN.
    var sessions: [String: Session] = [:]
    private let quotas: QuotaSettings
    var lastGeneration: UInt64

    init(quotas: QuotaSettings, sessions: [StageSession], lastGeneration: UInt64, now: WallTime) {
        (self.quotas, self.lastGeneration) = (quotas, lastGeneration)
        for session in sessions {
            self.sessions[session.stageARN] = Session(record: session, isRecorded: true, idleSince: now)
        }
    }

    mutating func claim(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, _ holder: any LeaseHolder, takeOver: Bool, now: WallTime
    ) -> Outcome {
        let key = Key(stageID: grant.stageID, participantID: grant.participantID)
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
            participantID: grant.participantID, stageID: grant.stageID, stageSessionID: session(of: grant.stageARN, now),
            generation: nextGeneration(now))
        sessions[grant.stageARN]?.publishers += 1
        held[key] = Held(lease: lease, grant: grant, ingestProtocol: ingestProtocol, holder: holder, joinedAt: now)
        return Outcome(answer: .granted(lease))
    }

    mutating func release(_ lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        guard let (key, entry) = find(lease) else { return [] }
        held[key] = nil
        sessions[entry.grant.stageARN]?.publishers -= 1
        sessions[entry.grant.stageARN]?.idleSince = now
        return ending(entry, now: now)
    }

    /// What the history is told of a publish that ends.
    func ending(_ entry: Held, now: WallTime) -> [HistoryWrite] {
        guard entry.isAnnounced else { return [] }
        let stopped = entry.isPublishing ? [event(.publishStopped, entry, now)] : []
        return stopped + [event(.left, entry, now), participant(entry, isConnected: false)]
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
        let sessionID = session(of: grant.stageARN, now)
        let error = ParticipantEvent(
            name: .publishError, time: now, stageARN: grant.stageARN, sessionID: sessionID,
            participantID: grant.participantID, userID: grant.userID, errorCode: errorCode)
        var writes = record(sessionOf: grant.stageARN)
        if held[Key(stageID: grant.stageID, participantID: grant.participantID)] == nil {
            var participant = Participant(grant, ingestProtocol, sessionID: sessionID, firstJoinTime: now)
            participant.isConnected = false
            writes.append(.participant(participant))
        }
        return writes + [.event(error)]
    }

    mutating func endIdleSessions(now: WallTime) -> [HistoryWrite] {
        var writes: [HistoryWrite] = []
        for (arn, session) in sessions where session.publishers == 0 && now - session.idleSince >= quotas.sessionLinger {
            sessions[arn] = nil
            guard session.isRecorded else { continue }
            writes.append(.sessionEnded(stageARN: arn, sessionID: session.record.sessionID, at: now))
        }
        return writes
    }
}

// MARK: - Parts

extension LeaseTable {
    /// The entry of exactly this lease: a lease of an older generation is nobody's any more.
    private func find(_ lease: PublishLease) -> (Key, Held)? {
        let key = Key(stageID: lease.stageID, participantID: lease.participantID)
        guard let entry = held[key], entry.lease == lease else { return nil }
        return (key, entry)
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
        lastGeneration = max(lastGeneration + 1, UInt64(max(0, now.millisecondsSince1970)))
        return lastGeneration
    }

    /// The id of the stage's running session, which begins if there is none.
    private mutating func session(of stageARN: String, _ now: WallTime) -> String {
        if let session = sessions[stageARN] { return session.record.sessionID }
        let record = StageSession(stageARN: stageARN, sessionID: Identifier.stageSession(), startTime: now)
        sessions[stageARN] = Session(record: record, idleSince: now)
        return record.sessionID
    }

    private mutating func record(sessionOf stageARN: String) -> [HistoryWrite] {
        guard let session = sessions[stageARN], !session.isRecorded else { return [] }
        sessions[stageARN]?.isRecorded = true
        return [.sessionBegan(session.record)]
    }

    private mutating func announce(_ key: Key) -> [HistoryWrite] {
        guard let entry = held[key], !entry.isAnnounced else { return [] }
        held[key]?.isAnnounced = true
        return record(sessionOf: entry.grant.stageARN)
            + [participant(entry, isConnected: true), event(.joined, entry, entry.joinedAt)]
    }

    private func event(
        _ name: ParticipantEvent.Name, _ entry: Held, _ time: WallTime, errorCode: String = "", warning: Warning? = nil
    ) -> HistoryWrite {
        var event = ParticipantEvent(
            name: name, time: time, stageARN: entry.grant.stageARN, sessionID: entry.lease.stageSessionID,
            participantID: entry.grant.participantID, userID: entry.grant.userID, errorCode: errorCode,
            generation: entry.revivedGeneration ?? entry.lease.generation)
        (event.rule, event.sentence) = (warning?.rule ?? "", warning?.sentence ?? "")
        return .event(event)
    }

    private func participant(_ entry: Held, isConnected: Bool) -> HistoryWrite {
        var participant = Participant(
            entry.grant, entry.ingestProtocol, sessionID: entry.lease.stageSessionID, firstJoinTime: entry.joinedAt)
        (participant.isConnected, participant.published) = (isConnected, entry.isPublishing)
        participant.generation = entry.revivedGeneration ?? entry.lease.generation
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
