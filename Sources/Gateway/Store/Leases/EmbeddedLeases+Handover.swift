public import Admission
import EventLoop
public import Wire

/// Giving the leases to a new process of this gateway, and taking them from an old one (docs/design.md 4.6).
extension EmbeddedLeases {
    /// Participants that the history shows as connected and that are.
    public var living: Set<LivingParticipant> {
        table.withLock { table in
            Set(
                table.held.values.filter(\.isAnnounced).map {
                    LivingParticipant(sessionID: $0.lease.stageSessionID, participantID: $0.grant.participantID)
                })
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

    /// Ends the publish of exactly this lease.
    public func end(_ lease: PublishLease, _ reason: LeaseEnd) { holder(of: lease)?.end(reason) }

    /// When the holder of each lease last made progress.
    public var progress: [(lease: PublishLease, at: MonotonicTime)] {
        let entries = table.withLock { table in table.held.values.map { ($0.lease, $0.holder) } }
        return entries.map { ($0.0, $0.1.lastProgress) }
    }

    private func holder(of lease: PublishLease) -> (any LeaseHolder)? {
        let key = LeaseTable.Key(stageID: lease.stageID, participantID: lease.participantID)
        return table.withLock { table in
            guard let entry = table.held[key], entry.lease == lease else { return nil }
            return entry.holder
        }
    }
}
