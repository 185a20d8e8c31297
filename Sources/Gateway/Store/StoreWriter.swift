import EventLoop
import StageMetrics
import Wire

/// Carries out batches on the store's thread; the only one that writes.
final class StoreWriter {
    private var configuration: ConfigurationDatabase
    private var history: HistoryDatabase
    private let files: StoreFiles
    private let retention: Duration
    private var isOpen = true
    private let publish: @Sendable (StoreState) -> Void
    private let onQueued: @Sendable () -> Void
    private let onEvents: @Sendable ([ParticipantEvent]) -> Void
    private var state: StoreState

    init(
        _ files: StoreFiles, configuration: ConfigurationDatabase, history: HistoryDatabase, retention: Duration,
        state: StoreState,
        publish: @escaping @Sendable (StoreState) -> Void, onQueued: @escaping @Sendable () -> Void,
        onEvents: @escaping @Sendable ([ParticipantEvent]) -> Void
    ) {
        (self.files, self.configuration, self.history) = (files, configuration, history)
        (self.retention, self.state) = (retention, state)
        (self.publish, self.onQueued, self.onEvents) = (publish, onQueued, onEvents)
    }

    /// Writes first, each file with one commit, then reads: a reader sees all that was asked for before it.
    func carryOut(_ jobs: [StoreJob]) {
        commitTransactions(in: jobs)
        appendHistory(in: jobs)
        for case .reading(let body, let refuse) in jobs {
            do { try history.read(body) } catch { refuse(StoreError.failed(reason: String(describing: error))) }
        }
    }

    /// Forgets what has outlived its use.
    func sweep() {
        guard isOpen else { return }
        let now = EventLoop.wallNow()
        var transaction = StateTransaction(state)
        transaction.removeRevocations(expiredAt: now)
        if (try? configuration.commit(transaction.changes)) != nil { adopt(transaction.state) }
        try? history.removeEvents(before: now + (.zero - retention))
        try? history.removeMetrics(before: MetricPoint.minute(of: now) - MetricRetention.minutes)
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        configuration.close()
        history.close()
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
            for acknowledge in acknowledgements { acknowledge(.failed(reason: String(describing: error))) }
        }
    }

    private func adopt(_ new: StoreState) {
        state = new
        publish(new)
    }

    private func appendHistory(in jobs: [StoreJob]) {
        var writes: [HistoryWrite] = []
        for case .history(let part) in jobs { writes += part }
        guard !writes.isEmpty, let events = try? history.append(writes) else { return }
        onQueued()
        if !events.isEmpty { onEvents(events) }
    }
}
