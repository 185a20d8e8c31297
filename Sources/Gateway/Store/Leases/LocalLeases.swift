package import Admission
import EventLoop
import Settings
package import Wire

/// The leases that sessions of this node hold, where all nodes of a cluster decide together who may (Gateway/Cluster).
///
/// What follows from them goes to the history under the lock, as of `EmbeddedLeases`; holders are called after it is released.
package final class LocalLeases: Sendable {
    package struct Entry: Sendable {
        package var lease: PublishLease
        package var grant: PublishGrant
        package var holder: any LeaseHolder

        package init(lease: PublishLease, grant: PublishGrant, holder: any LeaseHolder) {
            (self.lease, self.grant, self.holder) = (lease, grant, holder)
        }
    }

    private let table: Lock<LeaseTable>
    private let record: @Sendable ([HistoryWrite]) -> Void
    private let wallNow: @Sendable () -> WallTime

    /// - Parameter node: this node's name in the cluster.
    package init(
        node: String, record: @escaping @Sendable ([HistoryWrite]) -> Void, wallNow: @escaping @Sendable () -> WallTime
    ) {
        (self.record, self.wallNow) = (record, wallNow)
        table = Lock(LeaseTable(quotas: QuotaSettings(), sessions: [], lastGeneration: 0, node: node, now: wallNow()))
    }

    package var entries: [Entry] {
        table.withLock { table in
            table.held.values.map { Entry(lease: $0.lease, grant: $0.grant, holder: $0.holder) }
        }
    }

    package var count: Int { table.withLock { $0.held.count } }

    /// Who of this node holds the participant's lease.
    package func holder(ofParticipant id: String, stageID: String) -> (any LeaseHolder)? {
        table.withLock { $0.held[ParticipantKey(id, onStage: stageID)]?.holder }
    }

    /// Who holds exactly this lease.
    package func holder(ofParticipant id: String, stageID: String, generation: UInt64) -> (any LeaseHolder)? {
        table.withLock { table in
            let entry = table.held[ParticipantKey(id, onStage: stageID)]
            return entry?.lease.generation == generation ? entry?.holder : nil
        }
    }

    /// Keeps a lease that the cluster granted.
    /// - Returns: who held the participant's lease at this node until now, and has to be told.
    package func insert(_ entry: Entry, _ ingestProtocol: IngestProtocol, session: StageSession) -> (any LeaseHolder)? {
        let now = wallNow()
        return table.withLock { table in
            record(writing: table.makeRoom(for: entry.lease, now: now))
            return table.insert(entry, ingestProtocol, session: session, now: now)
        }
    }

    package func release(_ lease: PublishLease) {
        change { $0.release(lease, now: $1) }
    }

    package func started(_ lease: PublishLease) -> Bool { change { $0.started(lease, now: $1) } }

    package func wasTest(_ lease: PublishLease) { change { table, _ in table.wasTest(lease) } }

    package func failed(_ lease: PublishLease, errorCode: String) -> Bool {
        change { $0.failed(lease, errorCode: errorCode, now: $1) }
    }

    package func warned(_ lease: PublishLease, rule: String, sentence: String) {
        change { $0.warned(lease, HeldPublish.Warning(rule: rule, sentence: sentence), now: $1) }
    }

    /// A participant without a lease failed.
    /// - Parameter isLive: another session, of whatever node, publishes as that participant.
    package func refused(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, errorCode: String, session: StageSession, isLive: Bool
    ) -> Bool {
        change { table, now in
            table.begin(session, now: now)
            let writes = table.refused(grant, ingestProtocol, errorCode: errorCode, now: now)
            return isLive ? writes.filter { if case .participant = $0 { false } else { true } } : writes
        }
    }

    // MARK: - Those who watch

    /// - Parameter session: the stage's running one. When it is another than before, all who watch move there.
    /// - Returns: whether the history learnt of the stage's session.
    package func watchStarted(_ watching: Watching, session: StageSession) -> Bool {
        change { table, now in
            move(&table, to: session, now: now) + table.watchStarted(watching, now: now)
        }
    }

    package func watchStopped(_ watching: Watching) {
        change { $0.watchStopped(watching, now: $1) }
    }

    /// - Parameter session: the stage's running one.
    package func watchRefused(_ watching: Watching, errorCode: String, session: StageSession) {
        change { table, now in
            table.begin(session, isRecorded: true, now: now)
            return table.watchRefused(watching, errorCode: errorCode, now: now)
        }
    }

    /// The history was told that those who watch on the stage left: they join again.
    /// - Parameter session: the stage's running one.
    package func moveViewers(to session: StageSession) -> Bool {
        change { table, now in
            table.begin(session, now: now)
            return table.moveViewers(ofStage: session.stageARN, now: now)
        }
    }

    private func move(_ table: inout LeaseTable, to session: StageSession, now: WallTime) -> [HistoryWrite] {
        let known = table.sessions[session.stageARN]?.sessionID
        table.begin(session, now: now)
        return known == nil || known == session.sessionID ? [] : table.moveViewers(ofStage: session.stageARN, now: now)
    }

    /// The history was told that the lease's holder left: it joins again, under another generation.
    package func revive(_ lease: PublishLease, generation: UInt64) {
        change { $0.revive(lease, generation: generation, now: $1) }
    }

    /// - Returns: whether the history learnt of the stage's session.
    @discardableResult
    private func change(_ body: (inout LeaseTable, WallTime) -> [HistoryWrite]) -> Bool {
        let now = wallNow()
        return table.withLock { table in
            let writes = body(&table, now)
            table.forgetDesertedSessions()
            return record(writing: writes)
        }
    }

    @discardableResult
    private func record(writing writes: [HistoryWrite]) -> Bool {
        if !writes.isEmpty { record(writes) }
        return writes.contains { if case .sessionBegan = $0 { true } else { false } }
    }
}
