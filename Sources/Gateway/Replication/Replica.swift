import Admission
import EventLoop
import Refusals
import StageHub
import Store
import Wire

/// One replica on the worker of its source: carries out what `ReplicaMachine` says. Confined to the worker.
final class Replica {
    let id: Int
    let record: Replication
    private let grant: PublishGrant
    private let holder: LocalHolder
    /// It keeps its replicas until they are over.
    private unowned let replicator: Replicator
    /// Nil once the source's publish has ended.
    private weak var publish: ReplicatedPublish?
    private var machine: ReplicaMachine
    private var feed: ReplicaFeed?
    private var timer: TimerWatch?
    private var isSuspecting = false
    /// What the destination's history was last told.
    private var toldRefusal: RefusalCode?

    init(
        _ id: Int, _ record: Replication, _ grant: PublishGrant, holder: LocalHolder, of publish: ReplicatedPublish,
        _ replicator: Replicator
    ) {
        (self.id, self.record, self.grant, self.holder) = (id, record, grant, holder)
        (self.publish, self.replicator) = (publish, replicator)
        machine = ReplicaMachine(isReturning: record.state == .active)
    }

    func start() { perform(machine.start()) }
    func sourceEnded(_ reason: SessionEnd) { perform(machine.sourceEnded(reason)) }
    func unwanted(_ reason: SessionEnd) { perform(machine.unwanted(reason)) }
    func leaseEnded(_ reason: LeaseEnd) { perform(machine.leaseEnded(reason)) }

    private func perform(_ actions: [ReplicaMachine.Action]) {
        for action in actions {
            switch action {
            case .claim(let takeOver): claim(takeOver: takeOver)
            case .begin(let lease): begin(lease)
            case .end(let reason): end(reason)
            case .release(let lease): release(lease)
            case .linger:
                timer = replicator.loop.schedule(after: replicator.timing.lingering) { [unowned self] in
                    perform(machine.lingered())
                }
            case .refuse(let refusal): refuse(refusal)
            case .wait(let pause, let refusal): wait(pause, refusal)
            case .stop: replicator.book.stop(record)
            case .suspect: suspect()
            }
        }
        if machine.isOver, !isSuspecting { replicator.forget(self) }
    }

    private func claim(takeOver: Bool) {
        replicator.book.leases.claimPublish(
            grant, protocol: publish?.ingestProtocol ?? .whip, holder: holder, takeOver: takeOver, through: replicator.replies
        ) { [self] answer in
            perform(machine.claimed(answer, isOurs: isOurs(answer)))
        }
    }

    /// Of another node only so much is known: the replication was active, and somebody has its lease.
    private func isOurs(_ answer: ClaimAnswer) -> Bool {
        guard case .held(let incumbent) = answer else { return false }
        if let local = incumbent as? LocalHolder { return local.replication == record.number }
        return incumbent is RemoteHolder && record.state == .active
    }

    private func begin(_ lease: PublishLease) {
        guard let publish, !publish.isOver else { return }
        let feed = publish.makeFeed(grant, lease, holder)
        self.feed = feed
        replicator.book.leases.publishStarted(lease)
        publish.begin(feed)
        feed.replica.started()
        replicator.book.activated(record, source: publish.sourceLease, destination: lease)
    }

    private func end(_ reason: SessionEnd) {
        guard let feed else { return }
        self.feed = nil
        publish?.end(feed)
        feed.replica.end(reason)
    }

    private func release(_ lease: PublishLease) {
        replicator.book.leases.release(lease)
        holder.ended()
    }

    private func refuse(_ refusal: Refusal) {
        holder.ended()
        tellHistory(refusal)
        replicator.book.refused(record, refusal)
    }

    /// Whoever asked for it hears the refusal; of one that comes back, the destination's history tells, once of each reason.
    private func tellHistory(_ refusal: Refusal) {
        guard record.state == .active, toldRefusal != refusal.code else { return }
        toldRefusal = refusal.code
        replicator.book.leases.publishRefused(grant, protocol: publish?.ingestProtocol ?? .whip, refusal)
    }

    private func wait(_ pause: Duration, _ refusal: Refusal) {
        tellHistory(refusal)
        replicator.book.waits(record, refusal)
        timer = replicator.loop.schedule(after: pause) { [unowned self] in perform(machine.waited()) }
    }

    /// Two publishes of one source, one taking over from the other, are told that in no order.
    private func suspect() {
        isSuspecting = true
        timer = replicator.loop.schedule(after: replicator.timing.suspicion) { [unowned self] in
            if let publish, !publish.isOver { replicator.book.stop(record) }
            isSuspecting = false
            replicator.forget(self)
        }
    }
}
