public import Admission
public import EventLoop
public import Refusals
public import Settings
public import Wire

/// The leases of one gateway, in memory. What follows from them (sessions, participants, events) goes to the history.
///
/// One lock guards the table, and the history is told while it is held, so that events have the order in which the state changed.
/// Holders are called only after it is released.
public final class EmbeddedLeases: PublishLeases {
    private let table: Lock<LeaseTable>
    /// Who is told what becomes of the leases, once another process has the table; looked at under the table's lock.
    private let relay = Lock<(@Sendable (LeaseChange) -> Void)?>(nil)
    private let store: any GatewayStore
    private let wallNow: @Sendable () -> WallTime

    /// Sessions that a former process left open go on if somebody publishes in time.
    public init(
        store: EmbeddedStore, quotas: QuotaSettings = QuotaSettings(),
        wallNow: @escaping @Sendable () -> WallTime = { EventLoop.wallNow() }
    ) {
        (self.store, self.wallNow) = (store, wallNow)
        table = Lock(
            LeaseTable(
                quotas: quotas, sessions: store.recovered.activeSessions,
                lastGeneration: store.recovered.highestGeneration, now: wallNow()))
    }

    public func claimPublish(
        _ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        let now = wallNow()
        let outcome = table.withLock { table in
            // Looked at under the lock: what DeleteStage or a revocation commits is seen here, or ends the lease afterwards.
            if relay.withLock({ $0 != nil }) { return LeaseTable.Outcome(answer: .refused(Refusal(.draining))) }
            if let refusal = store.state.refusal(of: grant, at: now) {
                return LeaseTable.Outcome(answer: .refused(refusal))
            }
            return table.claim(grant, ingestProtocol, holder, takeOver: takeOver, now: now)
        }
        outcome.displaced?.end(.takenOver)
        reply(outcome.answer)
    }

    public func release(_ lease: PublishLease) { change(lease) { $0.release(lease, now: $1) } }

    /// - Parameter lease: the one that changes, of which a process that has the table is told.
    private func change(_ lease: PublishLease? = nil, _ body: (inout LeaseTable, WallTime) -> [HistoryWrite]) {
        let now = wallNow()
        table.withLock { table in
            let relay = self.relay.withLock { $0 }
            let wasKnown = relay != nil && lease.flatMap { table.handed($0) } != nil
            let writes = body(&table, now)
            if !writes.isEmpty { store.record(writes) }
            guard let lease, wasKnown, let relay else { return }
            relay(table.handed(lease).map { .changed($0) } ?? .released(lease))
        }
    }
}

extension EmbeddedLeases: PublishReports {
    public func publishStarted(_ lease: PublishLease) { change(lease) { $0.started(lease, now: $1) } }

    public func publishWasTest(_ lease: PublishLease) { change(lease) { table, _ in table.wasTest(lease) } }

    public func publishFailed(_ lease: PublishLease, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        change(lease) { $0.failed(lease, errorCode: code, now: $1) }
    }

    public func publishWarned(_ lease: PublishLease, rule: String, sentence: String) {
        change { $0.warned(lease, HeldPublish.Warning(rule: rule, sentence: sentence), now: $1) }
    }

    public func publishRefused(_ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        change { $0.refused(grant, ingestProtocol, errorCode: code, now: $1) }
    }
}

extension EmbeddedLeases: ViewerReports {
    public func watchStarted(_ watching: Watching) { change { $0.watchStarted(watching, now: $1) } }
    public func watchStopped(_ watching: Watching) { change { $0.watchStopped(watching, now: $1) } }

    public func watchRefused(_ watching: Watching, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        change { $0.watchRefused(watching, errorCode: code, now: $1) }
    }
}

/// What the control plane asks and does; everything is known here, and answered at once.
extension EmbeddedLeases: LeaseControl {
    public func activeSessions(
        ofStages arns: [String], reply: @escaping @Sendable (Result<[String: StageSession], StoreError>) -> Void
    ) {
        let found = table.withLock { table in
            arns.reduce(into: [String: StageSession]()) { $0[$1] = table.sessions.recorded(ofStage: $1) }
        }
        reply(.success(found))
    }

    public func live(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        reply(.success(table.withLock { table in participants.filter { table.held[$0.key] != nil } }))
    }

    public func isHeldHere(_ participant: StageParticipant) -> Bool {
        table.withLock { $0.held[participant.key] != nil }
    }

    public func isHeldByFormerProcess(_ participant: StageParticipant) -> Bool {
        table.withLock { $0.held[participant.key]?.holder is RemoteHolder }
    }

    public func end(_ participant: StageParticipant, _ refusal: Refusal) {
        table.withLock { $0.held[participant.key]?.holder }?.end(.disconnected(refusal))
    }

    public func endAll(ofStage arn: String, _ refusal: Refusal) {
        let holders = table.withLock { table in table.held.values.filter { $0.grant.stageARN == arn }.map(\.holder) }
        for holder in holders { holder.end(.disconnected(refusal)) }
    }

    public func endRevoked() {
        let (state, now) = (store.state, wallNow())
        for entry in table.withLock({ Array($0.held.values) }) {
            if let refusal = state.refusal(of: entry.grant, at: now) { entry.holder.end(.disconnected(refusal)) }
        }
    }

    public func endIdleSessions() {
        if relay.withLock({ $0 == nil }) { change { $0.endIdleSessions(now: $1) } }
    }
}

/// Giving the leases to a new process of this gateway, and taking them from an old one (docs/design.md 4.6).
extension EmbeddedLeases {
    /// Participants that the history shows as connected and that are.
    public var living: Set<LivingParticipant> {
        table.withLock { table in
            let publishing = table.held.values.filter(\.isAnnounced).map {
                LivingParticipant(sessionID: $0.lease.stageSessionID, participantID: $0.grant.participantID)
            }
            let watching = table.viewers.values.map {
                LivingParticipant(sessionID: $0.sessionID, participantID: $0.grant.participantID)
            }
            return Set(publishing + watching)
        }
    }

    /// From now on another process admits: all leases are told, then every change of them; new claims are refused as draining.
    /// - Parameter relay: called on any thread, in the order of what happens; it must not wait.
    public func handOver(to relay: @escaping @Sendable (LeaseChange) -> Void) {
        table.withLock { table in
            self.relay.withLock { $0 = relay }
            for entry in table.held.values { if let handed = table.handed(entry) { relay(.changed(handed)) } }
        }
    }

    /// The other process has died: this one admits again.
    public func takeBack(_ recovered: EmbeddedStore.Recovered) {
        let now = wallNow()
        table.withLock { table in
            relay.withLock { $0 = nil }
            table.takeBack(recovered, now: now)
        }
    }

    /// Keeps a lease whose session lives in another process, or what has changed about it.
    public func adopt(_ handed: HandedLease, holder: any LeaseHolder) {
        tell(handed.lease) { $0.adopt(handed, holder: holder) }
    }

    /// The other process gave the lease back, and what follows for the history comes from there.
    public func forget(_ lease: PublishLease) {
        let now = wallNow()
        tell(lease) { $0.forget(lease, now: now) }
    }

    /// Changes what the table says of a lease of the process before this one, and tells the process after it, if there is one.
    private func tell(_ lease: PublishLease, after change: (inout LeaseTable) -> Void) {
        table.withLock { table in
            let wasKnown = table.handed(lease) != nil
            change(&table)
            guard let relay = relay.withLock({ $0 }) else { return }
            if let handed = table.handed(lease) { return relay(.changed(handed)) }
            if wasKnown { relay(.released(lease)) }
        }
    }

    /// Ends the publish of exactly this lease, as the process says that has the table. A publish that was taken over there goes
    /// on there: its former session has nothing to tell the history.
    public func end(_ lease: PublishLease, _ reason: LeaseEnd) {
        let holder = holder(of: lease)
        if reason == .takenOver { forget(lease) }
        holder?.end(reason)
    }

    /// When the holder of each lease last made progress.
    public var progress: [(lease: PublishLease, at: MonotonicTime)] {
        let entries = table.withLock { table in table.held.values.map { ($0.lease, $0.holder) } }
        return entries.map { ($0.0, $0.1.lastProgress) }
    }

    private func holder(of lease: PublishLease) -> (any LeaseHolder)? {
        table.withLock { table in
            guard let entry = table.held[lease.participant], entry.lease == lease else { return nil }
            return entry.holder
        }
    }
}
