import Admission
public import EventLoop
import GatewayLogging
import Refusals
public import Store
public import Wire

/// What a node's workers and its control loop know and tell of replications: the records are the truth. For any thread.
public final class ReplicationBook: Sendable {
    let store: any GatewayStore
    let leases: any LeaseControl
    private let wallNow: @Sendable () -> WallTime
    private let known: Lock<RecordMap<Replication.Key, Replication>>
    private let readers = Lock<[MailboxSender<ReplicationOrder>]>([])

    public init(
        store: any GatewayStore, leases: any LeaseControl, wallNow: @escaping @Sendable () -> WallTime = { EventLoop.wallNow() }
    ) {
        (self.store, self.leases, self.wallNow) = (store, leases, wallNow)
        known = Lock(store.state.replications)
    }

    /// Somebody, at whatever node, has changed the configuration. On the store's thread.
    public func stateChanged(_ state: StoreState) {
        let isNews = known.withLock { known in
            guard known != state.replications else { return false }
            known = state.replications
            return true
        }
        guard isNews else { return }
        for reader in readers.withLock({ $0 }) { reader.send(.look) }
    }

    /// A worker is told from now on to look again.
    func add(_ reader: MailboxSender<ReplicationOrder>) { readers.withLock { $0.append(reader) } }

    func running(of source: StageParticipant) -> [Replication] { store.state.replications(of: source).filter(\.isRunning) }

    /// Those of all sources, for a worker that looks for each of its publishes.
    func running() -> [StageParticipant: [Replication]] {
        Dictionary(grouping: store.state.replications.values.filter(\.isRunning), by: \.key.source).mapValues { ofSource in
            ofSource.sorted { $0.key.destinationStageARN < $1.key.destinationStageARN }
        }
    }

    // MARK: - What becomes of them

    /// The destination has granted a lease, and media goes there.
    func activated(_ replication: Replication, source: PublishLease, destination: PublishLease) {
        let now = wallNow()
        store.write { transaction in
            transaction.activate(
                replication.key, number: replication.number, sourceSessionID: source.stageSessionID,
                destinationSessionID: destination.stageSessionID, generation: source.generation)
        } reply: { [store] result in
            guard case .success(let change?) = result else { return }
            store.record(change.after.activeWrites(after: change.before, at: now))
            Self.log("replication_active", change.after)
        }
    }

    /// The destination did not take it: whoever asked is told; one that was active before is over.
    func refused(_ replication: Replication, _ refusal: Refusal) {
        if replication.state == .active { return stop(replication) }
        store.write { transaction in
            transaction.refuse(replication.key, number: replication.number, refusedBy: refusal.code.number)
        } reply: { _ in
        }
    }

    /// The destination does not take it now; it is asked again.
    func waits(_ replication: Replication, _ refusal: Refusal) {
        store.write { transaction in
            transaction.wait(replication.key, number: replication.number, refusedBy: refusal.code.number)
        } reply: { [store] result in
            guard case .success(let waiting?) = result else { return }
            store.recordWaiting(waiting)
            Self.log("replication_waits", waiting, refusal)
        }
    }

    func stop(_ replication: Replication) {
        let now = wallNow()
        store.write { transaction in
            transaction.stop(replication.key, number: replication.number)
        } reply: { [store] result in
            guard case .success(let stopped?) = result else { return }
            store.recordStopped([stopped], at: now)
            Self.log("replication_stopped", stopped)
        }
    }

    /// Nobody answered for it, or the session that it belonged to is over.
    func forget(_ replication: Replication) {
        store.write { transaction in
            if transaction.state.replications[replication.key] == replication {
                transaction.removeReplication(replication.key)
            }
        } reply: { _ in
        }
    }

    private static func log(_ name: String, _ replication: Replication, _ refusal: Refusal? = nil) {
        let fields: LogFields = [
            "participant": .string(replication.key.participantID), "source": .string(replication.key.sourceStageARN),
            "destination": .string(replication.key.destinationStageARN),
        ]
        guard let refusal else { return Log.event(.info, name, fields) }
        Log.event(.warning, name, fields.adding(["refusal": .string(refusal.code.identifier)]))
    }
}

/// What a worker is told of replications, from any thread.
enum ReplicationOrder: Sendable {
    /// The records have changed.
    case look
    /// A replica's lease was taken away.
    case leaseEnded(replica: Int, LeaseEnd)
}
