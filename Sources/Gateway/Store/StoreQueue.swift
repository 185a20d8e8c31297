import EventLoop

/// The bounded line in front of the store's thread. Everything in it when the thread looks is one batch.
final class StoreQueue: Sendable {
    /// Writes of one job that the writer gives back: a message to another process holds them.
    private static let maximumReturned = 100

    /// Who has the files, and so what becomes of jobs.
    private enum Phase {
        case serving
        /// The files are somebody else's for now: jobs wait.
        case suspended
        /// They will stay with somebody else: history goes there, whoever asks for anything else is refused.
        case relaying(@Sendable ([HistoryWrite]) -> Void)
        case closed
    }

    private struct Line {
        var jobs: [StoreJob] = []
        var orders: [StoreOrder] = []
        var wake: MailboxSender<Void>?
        var phase = Phase.serving

        var isClosed: Bool { if case .closed = phase { true } else { false } }

        /// What is closed stays so, whatever the thread does in that moment: it would never end.
        mutating func enter(_ next: Phase) { if !isClosed { phase = next } }
    }

    private let line = Lock(Line())
    private let maximumWaiting: Int

    init(maximumWaiting: Int) { self.maximumWaiting = maximumWaiting }

    /// - Returns: why the job was not taken; nil when it was.
    func add(_ job: StoreJob) -> StoreError? {
        let (wake, reason): (MailboxSender<Void>?, StoreError?) = line.withLock { line in
            switch (line.phase, job) {
            case (.closed, _): return (nil, .closed)
            // Told under the lock, because what comes first must be written first.
            case (.relaying(let relay), .history(let writes)):
                relay(writes)
                return (nil, nil)
            case (.relaying, _): return (nil, .closed)
            case (.serving, _), (.suspended, _): break
            }
            guard line.jobs.count < maximumWaiting else { return (nil, .overloaded) }
            line.jobs.append(job)
            return (line.jobs.count == 1 ? line.wake : nil, nil)
        }
        wake?.send(())
        return reason
    }

    func close() {
        let wake = line.withLock { line in
            line.phase = .closed
            return line.wake
        }
        wake?.send(())
    }

    /// Has the thread let go of the files once it has done what waits, or take them up again.
    func order(_ order: StoreOrder) {
        let wake = line.withLock { line in
            line.orders.append(order)
            return line.wake
        }
        wake?.send(())
    }

    /// Sends history on from now on, what has waited first, and refuses what else has waited.
    func relay(to relay: @escaping @Sendable ([HistoryWrite]) -> Void) {
        let refused = line.withLock { line in
            let waiting = line.jobs
            line.jobs = []
            line.enter(.relaying(relay))
            for case .history(let writes) in waiting { relay(writes) }
            return waiting
        }
        for job in refused { job.refuse(StoreError.closed) }
    }

    /// Sends history on no longer: from now on everything waits for the files, which come back.
    func endRelay() {
        line.withLock { line in if case .relaying = line.phase { line.phase = .suspended } }
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
        writer.loop = loop
        line.withLock { $0.wake = mailbox.sender }
        mailbox.sender.send(())
        let sweep = loop.schedule(after: .seconds(60), repeating: .seconds(3_600)) { writer.sweep() }
        loop.run()
        sweep.cancel()
        writer.end()
    }

    /// - Returns: false once there is nothing more to come.
    private func carryOut(_ writer: StoreWriter) -> Bool {
        let (jobs, orders, isClosed) = line.withLock { line in
            let orders = line.orders
            line.orders = []
            guard case .suspended = line.phase else {
                let jobs = line.jobs
                line.jobs = []
                return (jobs, orders, line.isClosed)
            }
            return ([], orders, false)
        }
        writer.carryOut(jobs)
        for order in orders { carryOut(order, writer) }
        return !isClosed
    }

    private func carryOut(_ order: StoreOrder, _ writer: StoreWriter) {
        switch order {
        case .suspend(let done):
            // What was not written comes first with whoever writes next.
            let rest = writer.close()
            let jobs = stride(from: 0, to: rest.count, by: Self.maximumReturned).map {
                StoreJob.history(Array(rest[$0..<min($0 + Self.maximumReturned, rest.count)]))
            }
            line.withLock { line in
                line.enter(.suspended)
                line.jobs = jobs + line.jobs
            }
            done()
        case .resume(let living, let reply):
            let result = writer.reopen(sparing: living)
            if case .success = result { line.withLock { $0.enter(.serving) } }
            reply(result)
            // What has waited meanwhile is a batch like any other.
            line.withLock { $0.wake }?.send(())
        }
    }
}

/// One request to the store's thread.
enum StoreJob: Sendable {
    /// Gives the answer to its caller: nil when all is durable, or why it is not.
    typealias Acknowledge = @Sendable (StoreError?) -> Void
    typealias Refuse = @Sendable (any Error) -> Void

    case transaction(@Sendable (inout StateTransaction) throws -> Acknowledge, refuse: Refuse)
    case history([HistoryWrite])
    case reading(@Sendable (any HistoryReading) -> Void, refuse: Refuse)

    /// Tells whoever waits for an answer that there will be none.
    func refuse(_ reason: StoreError) {
        switch self {
        case .transaction(_, let refuse), .reading(_, let refuse): refuse(reason)
        case .history: break
        }
    }
}

/// What the store's thread is told about its files, which one process at a time has.
enum StoreOrder: Sendable {
    /// Close both files once all that waits is written; jobs wait from then on.
    case suspend(done: @Sendable () -> Void)
    /// Open them again, as another process has left them.
    case resume(
        sparing: Set<LivingParticipant>, reply: @Sendable (Result<EmbeddedStore.Recovered, StoreError>) -> Void)
}
