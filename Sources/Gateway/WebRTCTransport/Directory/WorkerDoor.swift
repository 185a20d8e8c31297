import EventLoop

/// The way into one worker: its mailbox, and a ring from each other worker, made at first use.
final class WorkerDoor: Sendable {
    let sender = Lock<MailboxSender<TransportMessage>?>(nil)
    private let rings: [Lock<DatagramRing?>]

    init(index: Int, workerCount: Int) { rings = (0..<workerCount).map { _ in Lock(nil) } }

    func ring(from: Int) -> DatagramRing {
        rings[from].withLock { ring in
            if let ring { return ring }
            let made = DatagramRing()
            ring = made
            return made
        }
    }
}
