public import Admission
import EventLoop
public import GatewayMetrics
public import Monitoring

/// Where each participant of two encoders is joined, and what operators see and order. For any thread.
public final class RedundancyDesk: Sendable {
    private struct Home {
        var worker: Int
        /// Encoders that are there, or on their way.
        var members = 0
        var status: RedundancyStatus?
    }

    let leases: any PublishLeases
    let reports: (any PublishReports)?
    let board: SessionBoard?
    let metrics: RedundancyMetrics
    let inboxes: [JoinInbox]
    private let homes = Lock<[ParticipantKey: Home]>([:])

    /// - Parameter workerCount: how many `RedundancyWorker`s there will be.
    public init(
        leases: any PublishLeases, reports: (any PublishReports)?, board: SessionBoard?, workerCount: Int,
        metrics: MetricsRegistry
    ) {
        (self.leases, self.reports, self.board) = (leases, reports, board)
        self.metrics = RedundancyMetrics(metrics)
        inboxes = (0..<workerCount).map { _ in JoinInbox(wakeUp: .media) }
    }

    // MARK: - Workers

    /// An encoder begins.
    /// - Returns: the worker that joins its participant: that of the encoder that came first.
    func enter(_ key: ParticipantKey, from worker: Int) -> Int {
        homes.withLock { homes in
            homes[key, default: Home(worker: worker)].members += 1
            return homes[key]?.worker ?? worker
        }
    }

    func leave(_ key: ParticipantKey) { homes.withLock { $0[key]?.members -= 1 } }

    /// The participant is over. While an encoder is on its way there, its home stays.
    func close(_ key: ParticipantKey) {
        homes.withLock { homes in
            homes[key]?.status = nil
            if homes[key]?.members ?? 0 <= 0 { homes[key] = nil }
        }
    }

    func tell(_ status: RedundancyStatus, of worker: Int) {
        homes.withLock { if $0[status.participant]?.worker == worker { $0[status.participant]?.status = status } }
    }

    // MARK: - Operators

    /// In the order of their participants.
    public var statuses: [RedundancyStatus] {
        homes.withLock { $0.values.compactMap(\.status) }.sorted { $0.participant.name < $1.participant.name }
    }

    /// - Parameter id: of the participant, or of one of its encoders.
    public func status(ofParticipant id: String) -> RedundancyStatus? {
        statuses.first { status in
            status.participant.participantID == id || status.encoders.contains { $0.participantID == id }
        }
    }

    /// An operator wants that encoder to be the source.
    /// - Returns: false when it cannot be: it is not there, or brings nothing.
    public func order(_ encoder: Int, for participant: ParticipantKey) -> Bool {
        let home = homes.withLock { $0[participant] }
        guard let home, let wanted = home.status?.encoders.first(where: { $0.number == encoder }), wanted.isAlive else {
            return false
        }
        inboxes[home.worker].send(.ordered(participant, encoder: encoder))
        return true
    }
}

/// What redundant ingest counts.
struct RedundancyMetrics: Sendable {
    private let switches: [SourceChoice.Reason: Counter]

    init(_ registry: MetricsRegistry) {
        let reasons = SourceChoice.Reason.allCases.filter { $0 != .begin }
        switches = reasons.reduce(into: [:]) { switches, reason in
            switches[reason] = registry.counter(
                "stagedoor_redundant_switches_total", "Times that a participant of two encoders went on with the other one.",
                ["reason": reason.rawValue])
        }
    }

    func switched(_ reason: SourceChoice.Reason) { switches[reason]?.increment() }
}
