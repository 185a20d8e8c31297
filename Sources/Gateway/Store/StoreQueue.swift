import EventLoop

/// The bounded line in front of the store's thread. Everything in it when the thread looks is one batch.
final class StoreQueue: Sendable {
    private struct Line {
        var jobs: [StoreJob] = []
        var wake: MailboxSender<Void>?
        var isClosed = false
        var dropped = 0
    }

    private let line = Lock(Line())
    private let maximumWaiting: Int

    init(maximumWaiting: Int) { self.maximumWaiting = maximumWaiting }

    var dropped: Int { line.withLock { $0.dropped } }

    /// Returns why the job was not taken, or nil.
    func add(_ job: StoreJob) -> StoreError? {
        let (wake, reason): (MailboxSender<Void>?, StoreError?) = line.withLock { line in
            guard !line.isClosed else { return (nil, .closed) }
            guard line.jobs.count < maximumWaiting else {
                if case .history(let writes) = job { line.dropped += writes.count }
                return (nil, .overloaded)
            }
            line.jobs.append(job)
            return (line.jobs.count == 1 ? line.wake : nil, nil)
        }
        wake?.send(())
        return reason
    }

    func close() {
        let wake = line.withLock { line in
            line.isClosed = true
            return line.wake
        }
        wake?.send(())
    }

    /// Carries out batches on the calling thread until the queue is closed and empty.
    func serve(_ writer: StoreWriter) {
        // Without descriptors for a loop nothing at all would run in this process; the callers are told `.closed`.
        guard let loop = try? EventLoop(),
            let mailbox = try? Mailbox<Void>(
                loop: loop,
                receive: { [unowned self] in
                    if !carryOut(writer) { loop.stop() }
                })
        else { return close() }
        let isOpen = line.withLock { line in
            line.wake = mailbox.sender
            return !line.isClosed
        }
        mailbox.sender.send(())
        let sweep = loop.schedule(after: .seconds(60), repeating: .seconds(3_600)) { writer.sweep() }
        _ = isOpen
        loop.run()
        sweep.cancel()
        writer.close()
    }

    /// False once there is nothing more to come.
    private func carryOut(_ writer: StoreWriter) -> Bool {
        let (jobs, isClosed) = line.withLock { line in
            let jobs = line.jobs
            line.jobs = []
            return (jobs, line.isClosed)
        }
        writer.carryOut(jobs)
        return !isClosed
    }
}
