import Admission
public import EventLoop
import Refusals
public import StageHub

/// One worker's part in replications: shows its publications on the other stages that the records name.
///
/// A replica is a publication of its own on the same worker, with a lease of the destination, which `attach` gives the sinks of
/// any publication: routers, viewers and recordings see no difference. Confined to the worker.
public final class Replicator {
    let book: ReplicationBook
    let loop: EventLoop
    let replies: ReplyBox
    /// Connects a replica with routers, viewers and what else a publication has.
    let attach: (Publication) -> Void
    let timing: ReplicationTiming
    private var mailbox: Mailbox<ReplicationOrder>?
    private var publishes: [ObjectIdentifier: ReplicatedPublish] = [:]
    private var replicas: [Int: Replica] = [:]
    private var lastNumber = 0

    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, book: ReplicationBook, timing: ReplicationTiming = ReplicationTiming(),
        attach: @escaping (Publication) -> Void
    ) throws(SystemError) {
        (self.loop, self.book, self.timing, self.attach) = (loop, book, timing, attach)
        replies = try ReplyBox(loop: loop)
        let mailbox = try Mailbox<ReplicationOrder>(loop: loop) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        book.add(mailbox.sender)
    }

    /// A publish of this worker is live; it can be replicated until it ends.
    public func publishBegan(_ publication: Publication) {
        let publish = ReplicatedPublish(publication, of: self)
        publishes[ObjectIdentifier(publish)] = publish
        publication.add(observer: publish)
    }

    /// The worker stops: no lease outlives it.
    public func stop() {
        for replica in replicas.values { replica.unwanted(.shutdown) }
    }

    func ended(_ publish: ReplicatedPublish) { publishes[ObjectIdentifier(publish)] = nil }

    /// Makes a replica under a number of its own, and keeps it until it is over.
    /// - Returns: nil without a way for news of its lease, which there is once `init` is done.
    func keep(_ make: (_ number: Int, _ onEnd: @escaping @Sendable (LeaseEnd) -> Void) -> Replica) -> Replica? {
        guard let sender = mailbox?.sender else { return nil }
        lastNumber += 1
        let number = lastNumber
        let replica = make(number) { sender.send(.leaseEnded(replica: number, $0)) }
        replicas[number] = replica
        return replica
    }

    func forget(_ replica: Replica) { replicas[replica.id] = nil }

    private func receive(_ order: ReplicationOrder) {
        switch order {
        case .look:
            let running = book.running()
            for publish in publishes.values { publish.look(at: running[publish.source] ?? []) }
        case .leaseEnded(let number, let reason): replicas[number]?.leaseEnded(reason)
        }
    }
}

/// How long things may take.
public struct ReplicationTiming: Sendable {
    /// A replica's lease waits so long for whoever takes its source over.
    public var lingering = Duration.seconds(10)
    /// So long after its lease was taken, a source that is still live has not been taken over.
    public var suspicion = Duration.seconds(3)

    public init() {}
}
