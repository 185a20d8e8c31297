import EventLoop
import Synchronization

/// Which worker has a connection that several accept on one port.
///
/// The kernel gives a port's listeners their connections by a hash: 50 over two workers are 20 and 30 as a rule. But streams of
/// one worker share its wake-ups, so that 50 cost a fifth less there than on two. So workers are filled in their order, and have
/// even shares when all are full. Who accepts what is another's hands it on, before anything is read of it. Each accepts through
/// a `ConnectionInbox`.
public final class ConnectionShares: Sendable {
    /// Handing on costs a wake-up. A worker that has only so many more than it should keeps what it accepts: connections that
    /// follow each other, of which there is never more than one or two, stay where they come.
    static let tolerance = 1
    /// What fills a worker: a tenth to a quarter of a core at 2.5 Mbit/s, and enough for a wake-up to serve several.
    private static let fullCount = 64

    /// What is known of one worker.
    final class Worker: Sendable {
        fileprivate let count = Atomic<Int>(0)
        fileprivate let isOpen = Atomic<Bool>(false)
        fileprivate let inbox = Lock<MailboxSender<AcceptedConnection>?>(nil)
    }

    private let workers: [Worker]
    private let fullCount: Int

    /// - Parameter workerCount: how many workers serve the port; each is known by its index.
    public convenience init(workerCount: Int) { self.init(workerCount: workerCount, fullCount: Self.fullCount) }

    init(workerCount: Int, fullCount: Int) {
        workers = (0..<workerCount).map { _ in Worker() }
        self.fullCount = fullCount
    }

    /// Connections that a worker has, or is about to be given.
    public func count(ofWorker index: Int) -> Int { workers[index].count.load(ordering: .relaxed) }

    /// From now on the worker may be given connections of others.
    func open(worker index: Int, _ inbox: MailboxSender<AcceptedConnection>) {
        workers[index].inbox.withLock { $0 = inbox }
        workers[index].isOpen.store(true, ordering: .relaxed)
    }

    func close(worker index: Int) {
        workers[index].isOpen.store(false, ordering: .relaxed)
        workers[index].inbox.withLock { $0 = nil }
    }

    /// Gives a connection that a worker accepted a place there, or hands it to the worker whose it is.
    /// - Returns: the connection with its place; nil when another worker gets it.
    func place(_ connection: AcceptedConnection, acceptedBy index: Int) -> AcceptedConnection? {
        let worker = claimPlace(for: index)
        var placed = connection
        placed.place = ConnectionPlace(at: worker)
        if worker === workers[index] { return placed }
        // Whose inbox has closed meanwhile takes it no more: its last reference goes here, and with it descriptor and place.
        worker.inbox.withLock { $0 }?.send(placed)
        return nil
    }

    /// Counts a connection that another listener's worker serves and cannot hand on, as long as it is open.
    public func count(_ stream: TCPStream, at index: Int) {
        workers[index].count.add(1, ordering: .relaxed)
        stream.place = ConnectionPlace(at: workers[index])
    }

    /// Counts one more where it belongs. Only if that count is still what it was chosen by: however many workers do so at once,
    /// none is overfilled, and without ends of connections no two full ones come to differ by more than `tolerance` and one.
    private func claimPlace(for index: Int) -> Worker {
        while true {
            let (chosen, count) = choice(for: index)
            if workers[chosen].count.compareExchange(expected: count, desired: count + 1, ordering: .relaxed).exchanged {
                return workers[chosen]
            }
        }
    }

    private func choice(for index: Int) -> (index: Int, count: Int) {
        let own = workers[index].count.load(ordering: .relaxed)
        if own <= Self.tolerance { return (index, own) }
        let next = nextToFill()
        return next.count < fullCount || next.count + Self.tolerance < own ? next : (index, own)
    }

    /// Of the workers whose inboxes are open the first that is not full, or the one with the fewest; when none is open, nobody
    /// has fewer than anybody.
    private func nextToFill() -> (index: Int, count: Int) {
        var least = (index: 0, count: Int.max - Self.tolerance)
        for (index, worker) in workers.enumerated() where worker.isOpen.load(ordering: .relaxed) {
            let count = worker.count.load(ordering: .relaxed)
            if count < fullCount { return (index, count) }
            if count < least.count { least = (index, count) }
        }
        return least
    }
}

/// One connection's part of its worker's share, given back with the last reference.
final class ConnectionPlace: Sendable {
    private let worker: ConnectionShares.Worker

    /// - Parameter worker: where the place has been counted.
    fileprivate init(at worker: ConnectionShares.Worker) { self.worker = worker }

    deinit { worker.count.subtract(1, ordering: .relaxed) }
}
