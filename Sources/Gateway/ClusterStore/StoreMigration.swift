import EventLoop
import Settings
public import Store
import Wire

/// Moves configuration and history between the files of one gateway and the database of a cluster. No gateway
/// runs on either meanwhile.
public struct StoreMigration: Sendable {
    /// What was moved.
    public struct Report: Equatable, Sendable {
        public var records = 0
        /// Sessions, participants and events.
        public var history = 0
    }

    /// Records changed by one transaction.
    static let page = 100

    private let settings: RedisStoreSettings

    public init(_ settings: RedisStoreSettings) { self.settings = settings }

    /// Copies configuration and history from the files of a data directory. Interrupted, it is simply run again.
    ///
    /// - Parameter directory: the data directory, which the caller has locked.
    /// - Throws: `.failed` when the database has a record that the files do not have just so.
    public func importFiles(of directory: String) throws(StoreError) -> Report {
        let files = try EmbeddedFiles(directory: directory)
        defer { files.close() }
        let state = try files.load()
        var report = Report()
        try DatabaseOpening(settings, process: "migration").use { database throws(StoreError) in
            try requireNothing(in: database.copy.state, beside: state)
            try put(state.records, into: database)
            report.records = state.records.count
            let forwarder = HistoryForwarder(
                server: database.loader.server, schema: database.loader.schema, retention: settings.events.retention)
            let now = EventLoop.wallNow()
            let queue = "migration:\(try files.queueName())"
            var sequence: Int64 = 0
            try files.eachWrite(at: now) { writes throws(StoreError) in
                for write in writes {
                    sequence += 1
                    _ = try forwarder.forward(write, from: .init(queue: queue, sequence: sequence), now: now)
                }
                report.history += writes.count
            }
        }
        return report
    }

    /// Copies configuration and history into the files of a data directory that has none yet. Interrupted, it is simply run again.
    ///
    /// Warnings and news of recordings stay behind, and the history of stages that were deleted.
    /// - Parameter directory: the data directory, which the caller has locked.
    /// - Throws: `.failed` when the files hold records already.
    public func exportFiles(to directory: String) throws(StoreError) -> Report {
        let files = try EmbeddedFiles(directory: directory)
        defer { files.close() }
        try requireNothing(in: try files.load(), beside: StoreState())
        var report = Report()
        try DatabaseOpening(settings, process: "migration").use { database throws(StoreError) in
            let state = database.copy.state
            for arn in state.stages.keys.sorted() {
                // All of it is written at once: an interrupted run has done it.
                if try files.hasHistory(ofStage: arn) { continue }
                let writes = try story(ofStage: arn, database.history)
                try files.append(writes)
                report.history += writes.count
            }
            // Last, because an empty configuration is what allows to run it again.
            try files.commit(state.records.map(Change.put))
            report.records = state.records.count
        }
        return report
    }

    private func requireNothing(in state: StoreState, beside other: StoreState) throws(StoreError) {
        for record in state.records where other.record(record.id) != record {
            throw .failed(reason: "the destination is not empty: it has \(record.id), which the source has not, or otherwise")
        }
    }

    private func put(_ records: [Record], into database: ClusterDatabase) throws(StoreError) {
        do {
            for start in stride(from: 0, to: records.count, by: Self.page) {
                try database.write { transaction in
                    for record in records[start..<min(start + Self.page, records.count)] { transaction.put(record) }
                }
            }
        } catch {
            throw error as? StoreError ?? .failed(reason: String(describing: error))
        }
    }
}

// MARK: - History

extension StoreMigration {
    /// The stage's history as the writes that make it again.
    private func story(ofStage arn: String, _ history: ClusterHistory) throws(StoreError) -> [HistoryWrite] {
        do {
            var writes: [HistoryWrite] = []
            var after: (startTime: WallTime, sessionID: String)?
            while true {
                let sessions = try history.sessions(ofStage: arn, after: after, limit: Self.page)
                for session in sessions { writes += try story(of: session, history) }
                guard sessions.count == Self.page, let last = sessions.last else { return writes }
                after = (last.startTime, last.sessionID)
            }
        } catch {
            throw error as? StoreError ?? .failed(reason: String(describing: error))
        }
    }

    private func story(of session: StageSession, _ history: ClusterHistory) throws -> [HistoryWrite] {
        let (arn, id) = (session.stageARN, session.sessionID)
        var begun = session
        begun.endTime = nil
        let participants = try history.participants(ofStage: arn, sessionID: id, limit: .max)
        var events: [ParticipantEvent] = []
        for participant in participants {
            events += try history.events(of: participant.place, limit: HistoryScript.maximumEvents)
        }
        // Events of one moment stay in their participant's order.
        let inOrder = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        return [.sessionBegan(begun)] + participants.flatMap(HistoryWrite.story) + inOrder.map(HistoryWrite.event)
            + (session.endTime.map { [.sessionEnded(stageARN: arn, sessionID: id, at: $0)] } ?? [])
    }
}
