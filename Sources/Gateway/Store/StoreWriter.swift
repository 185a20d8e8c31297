import EventLoop
import StageMetrics
import Wire

/// Carries out batches on the store's thread; the only one that writes.
final class StoreWriter {
    /// What the history's file did not take is tried again so much later.
    private static let pause = Duration.seconds(1)

    /// Whom the writer tells, on its thread.
    struct Outlets {
        var publish: @Sendable (StoreState) -> Void
        var onQueued: @Sendable () -> Void
        var onEvents: @Sendable ([ParticipantEvent]) -> Void
        var onNotice: @Sendable (StoreFilesNotice) -> Void
    }

    private var configuration: ConfigurationDatabase
    private var history: HistoryDatabase
    private let files: StoreFiles
    private let retention: Duration
    private var isOpen = true
    private let outlets: Outlets
    private var state: StoreState
    /// The loop on which it is; set before the first batch.
    var loop: EventLoop?
    private let standing: Lock<HistoryStanding>
    private var backlog = HistoryBacklog()
    private var retry: TimerWatch?
    private var isAway = false
    /// Dropped since the history's file is away.
    private var dropped = 0

    init(
        _ files: StoreFiles, configuration: ConfigurationDatabase, history: HistoryDatabase, retention: Duration,
        state: StoreState, standing: Lock<HistoryStanding>, outlets: Outlets
    ) {
        (self.files, self.configuration, self.history) = (files, configuration, history)
        (self.retention, self.state) = (retention, state)
        (self.standing, self.outlets) = (standing, outlets)
    }

    /// Writes first, each file with one commit as a rule, then reads: a reader sees all that was asked for before it and written.
    func carryOut(_ jobs: [StoreJob]) {
        commitTransactions(in: jobs)
        appendHistory(in: jobs)
        for case .reading(let body, let refuse) in jobs {
            do { try history.read(body) } catch { refuse(StoreError.failed(reason: String(describing: error))) }
        }
    }

    /// Forgets what has outlived its use. What the files do not forget is left to the next sweep.
    func sweep() {
        guard isOpen else { return }
        let now = EventLoop.wallNow()
        forget {
            var transaction = StateTransaction(state)
            transaction.removeRevocations(expiredAt: now)
            try configuration.commit(transaction.changes)
            adopt(transaction.state)
        }
        forget { try history.removeHistory(before: now + (.zero - retention)) }
        forget { try history.removeMetrics(before: MetricPoint.minute(of: now) - MetricRetention.minutes) }
    }

    private func forget(_ body: () throws -> Void) {
        do { try body() } catch { outlets.onNotice(.notSwept(reason: String(describing: error))) }
    }

    /// - Returns: what the history's file did not take to the last.
    func close() -> [HistoryWrite] {
        guard isOpen else { return [] }
        writeHistory()
        stopRetry()
        tellDropped()
        isOpen = false
        configuration.close()
        history.close()
        defer { noteStanding(lost: 0) }
        return backlog.takeAll()
    }

    /// Closes for good.
    func end() {
        // What came while another process had the files is still here.
        let lost = close().count + backlog.takeAll().count
        stopRetry()
        loop = nil
        guard lost > 0 else { return }
        noteStanding(lost: lost)
        outlets.onNotice(.lost(lost, reason: "the process ends"))
    }

    /// Opens the files that another process had meanwhile, and takes up what it wrote.
    func reopen(sparing living: Set<LivingParticipant>) -> Result<EmbeddedStore.Recovered, StoreError> {
        do {
            (configuration, history) = try files.open()
            isOpen = true
            adopt(try configuration.load())
            return .success(try history.recover(at: EventLoop.wallNow(), webhooks: files.webhooks, sparing: living))
        } catch {
            return .failure(.cannotOpen(path: files.directory, reason: String(describing: error)))
        }
    }

    private func commitTransactions(in jobs: [StoreJob]) {
        var latest = state
        var changes: [Change] = []
        var acknowledgements: [StoreJob.Acknowledge] = []
        for case .transaction(let body, let refuse) in jobs {
            var transaction = StateTransaction(latest)
            do {
                acknowledgements.append(try body(&transaction))
                latest = transaction.state
                changes += transaction.changes
            } catch {
                refuse(error)
            }
        }
        do {
            try configuration.commit(changes)
            if !changes.isEmpty { adopt(latest) }
            for acknowledge in acknowledgements { acknowledge(nil) }
        } catch {
            let reason = String(describing: error)
            outlets.onNotice(.notChanged(reason: reason))
            for acknowledge in acknowledgements { acknowledge(.failed(reason: reason)) }
        }
    }

    private func adopt(_ new: StoreState) {
        state = new
        outlets.publish(new)
    }

    private func appendHistory(in jobs: [StoreJob]) {
        for case .history(let part) in jobs { backlog.add(part) }
        guard !backlog.waiting.isEmpty else { return }
        if retry == nil { writeHistory() }
        let excess = backlog.bound()
        dropped += excess
        noteStanding(lost: excess)
    }

    private func writeHistory() {
        let count = backlog.waiting.count
        guard count > 0 else { return }
        let outcome = backlog.write { try history.append($0) }
        noteStanding(lost: outcome.refused)
        if outcome.refused > 0 { outlets.onNotice(.lost(outcome.refused, reason: outcome.refusal)) }
        note(outcome.fault)
        if backlog.waiting.count < count { outlets.onQueued() }
        if !outcome.events.isEmpty { outlets.onEvents(outcome.events) }
    }

    /// Tells when it begins and when it is over; between, a timer tries again.
    private func note(_ fault: String?) {
        stopRetry()
        if let fault {
            if !isAway { outlets.onNotice(.away(reason: fault)) }
            retry = loop?.schedule(after: Self.pause) { [unowned self] in
                retry = nil
                writeHistory()
            }
        } else if isAway {
            tellDropped()
            outlets.onNotice(.back)
        }
        isAway = fault != nil
    }

    private func stopRetry() {
        retry?.cancel()
        retry = nil
    }

    private func tellDropped() {
        if dropped > 0 { outlets.onNotice(.lost(dropped, reason: "too much waited for the history's file")) }
        dropped = 0
    }

    private func noteStanding(lost: Int) {
        let count = backlog.waiting.count
        standing.withLock { standing in
            standing.waiting = count
            standing.lost += lost
        }
    }
}
