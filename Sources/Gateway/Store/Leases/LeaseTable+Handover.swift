import Admission
import Wire

/// The table leaves for another process, or comes from one (docs/design.md 4.6: one of them admits at a time).
extension LeaseTable {
    func handed(_ entry: Held) -> HandedLease? {
        guard let session = sessions[entry.grant.stageARN] else { return nil }
        return HandedLease(
            lease: entry.lease, grant: entry.grant, ingestProtocol: entry.ingestProtocol, joinedAt: entry.joinedAt,
            isAnnounced: entry.isAnnounced, isPublishing: entry.isPublishing, session: session.record,
            isSessionRecorded: session.isRecorded)
    }

    /// The entry of exactly this lease, as it is told.
    func handed(_ lease: PublishLease) -> HandedLease? {
        guard let entry = held[Key(stageID: lease.stageID, participantID: lease.participantID)], entry.lease == lease else {
            return nil
        }
        return handed(entry)
    }

    /// Takes a lease of the other process over, or what has changed about it; one that was claimed anew here stays.
    mutating func adopt(_ handed: HandedLease, holder: any LeaseHolder) {
        let key = Key(stageID: handed.lease.stageID, participantID: handed.lease.participantID)
        let known = held[key]
        guard known == nil || known?.lease == handed.lease else { return }
        let arn = handed.grant.stageARN
        if sessions[arn]?.record.sessionID != handed.session.sessionID {
            sessions[arn] = Session(record: handed.session, idleSince: handed.joinedAt)
        }
        if handed.isSessionRecorded { sessions[arn]?.isRecorded = true }
        if known == nil { sessions[arn]?.publishers += 1 }
        held[key] = Held(
            lease: handed.lease, grant: handed.grant, ingestProtocol: handed.ingestProtocol, holder: known?.holder ?? holder,
            joinedAt: handed.joinedAt, isAnnounced: handed.isAnnounced, isPublishing: handed.isPublishing)
        lastGeneration = max(lastGeneration, handed.lease.generation)
    }

    /// The other process gave this lease back and wrote so.
    mutating func forget(_ lease: PublishLease, now: WallTime) {
        let key = Key(stageID: lease.stageID, participantID: lease.participantID)
        guard let entry = held[key], entry.lease == lease else { return }
        held[key] = nil
        sessions[entry.grant.stageARN]?.publishers -= 1
        sessions[entry.grant.stageARN]?.idleSince = now
    }

    /// The other process has died: what it took over from us is over, sessions that it began go on here.
    mutating func takeBack(_ recovered: EmbeddedStore.Recovered, now: WallTime) {
        for entry in held.values where entry.holder.hasEnded { forget(entry.lease, now: now) }
        lastGeneration = max(lastGeneration, recovered.highestGeneration)
        for session in recovered.activeSessions where sessions[session.stageARN] == nil {
            sessions[session.stageARN] = Session(record: session, isRecorded: true, idleSince: now)
        }
    }
}
