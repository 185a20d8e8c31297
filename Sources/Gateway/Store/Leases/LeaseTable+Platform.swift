import Admission
import Wire

/// Leases and sessions that were decided about elsewhere.
extension LeaseTable {
    /// What becomes of the participant's present lease, if it belongs to another stage session than the one to come.
    mutating func makeRoom(for lease: PublishLease, now: WallTime) -> [HistoryWrite] {
        let key = Key(stageID: lease.stageID, participantID: lease.participantID)
        guard let old = held[key], old.lease.stageSessionID != lease.stageSessionID else { return [] }
        return release(old.lease, now: now)
    }

    mutating func insert(
        _ entry: LocalLeases.Entry, _ ingestProtocol: IngestProtocol, session: StageSession, now: WallTime
    ) -> (any LeaseHolder)? {
        begin(session, now: now)
        let key = Key(stageID: entry.lease.stageID, participantID: entry.lease.participantID)
        if var incumbent = held[key] {
            let displaced = incumbent.holder
            (incumbent.lease, incumbent.grant, incumbent.holder) = (entry.lease, entry.grant, entry.holder)
            (incumbent.ingestProtocol, incumbent.revivedGeneration) = (ingestProtocol, nil)
            held[key] = incumbent
            return displaced
        }
        sessions[entry.grant.stageARN]?.publishers += 1
        held[key] = Held(
            lease: entry.lease, grant: entry.grant, ingestProtocol: ingestProtocol, holder: entry.holder, joinedAt: now)
        return nil
    }

    /// The stage's running session is this one.
    mutating func begin(_ session: StageSession, now: WallTime) {
        guard sessions[session.stageARN]?.record.sessionID != session.sessionID else { return }
        let publishers = held.values.count { $0.grant.stageARN == session.stageARN }
        sessions[session.stageARN] = Session(record: session, publishers: publishers, idleSince: now)
    }

    /// A session's end is the platform's to see: here it is known as long as somebody publishes.
    mutating func forgetSessionsWithoutPublishers() {
        sessions = sessions.filter { $0.value.publishers > 0 }
    }

    /// Ends the publish in the history, which was told so already, and begins it again.
    mutating func revive(_ lease: PublishLease, generation: UInt64, now: WallTime) -> [HistoryWrite] {
        let key = Key(stageID: lease.stageID, participantID: lease.participantID)
        guard var entry = held[key], entry.lease == lease else { return [] }
        let (isPublishing, ended) = (entry.isPublishing, ending(entry, now: now))
        (entry.isAnnounced, entry.isPublishing, entry.revivedGeneration, entry.joinedAt) = (false, false, generation, now)
        held[key] = entry
        return ended + (isPublishing ? started(lease, now: now) : [])
    }
}
