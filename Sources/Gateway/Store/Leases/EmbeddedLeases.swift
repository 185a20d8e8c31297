public import Admission
public import EventLoop
public import Refusals
public import Settings
public import Wire

/// The leases of one gateway, in memory. What follows from them (sessions, participants, events) goes to the history.
///
/// One lock guards the table, and the history is told while it is held: that is what numbers events in the order in which
/// the state changed. Holders are only called after it is released.
public final class EmbeddedLeases: PublishLeases {
    let table: Lock<LeaseTable>
    /// Who is told what becomes of the leases, once another process has the table; looked at under the table's lock.
    let relay = Lock<(@Sendable (LeaseChange) -> Void)?>(nil)
    let store: any PlatformStore
    let wallNow: @Sendable () -> WallTime

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
    func change(_ lease: PublishLease? = nil, _ body: (inout LeaseTable, WallTime) -> [HistoryWrite]) {
        let now = wallNow()
        table.withLock { table in
            let wasKnown = lease.flatMap { table.handed($0) } != nil
            let writes = body(&table, now)
            if !writes.isEmpty { store.record(writes) }
            guard let lease, wasKnown, let relay = relay.withLock({ $0 }) else { return }
            relay(table.handed(lease).map { .changed($0) } ?? .released(lease))
        }
    }
}

extension EmbeddedLeases: PublishReports {
    public func publishStarted(_ lease: PublishLease) { change(lease) { $0.started(lease, now: $1) } }

    public func publishFailed(_ lease: PublishLease, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        change(lease) { $0.failed(lease, errorCode: code, now: $1) }
    }

    public func publishWarned(_ lease: PublishLease, rule: String, sentence: String) {
        change { $0.warned(lease, LeaseTable.Warning(rule: rule, sentence: sentence), now: $1) }
    }

    public func publishRefused(_ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        change { $0.refused(grant, ingestProtocol, errorCode: code, now: $1) }
    }
}
