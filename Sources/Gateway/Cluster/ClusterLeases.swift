public import Admission
import EventLoop
public import Refusals
import Settings
public import Store
import Synchronization
public import Wire

/// The leases of one node of a cluster, whose nodes share them on a Redis or Valkey (docs/design.md 7.4).
///
/// For any thread. Who holds what here is known here; who may is decided on the control loop by a `ClusterMember`, which asks the
/// server first. Live media never waits for it, and never ends because the server is away.
public final class ClusterLeases: Sendable {
    /// What the node knows and keeps beside its leases.
    public struct Environment: Sendable {
        /// The configuration as last read.
        public var state: @Sendable () -> StoreState
        /// Appends to the history; never waits.
        public var record: @Sendable ([HistoryWrite]) -> Void
        /// The ARN of a stage, which may have been deleted.
        public var stageARN: @Sendable (_ stageID: String) -> String
        public var wallNow: @Sendable () -> WallTime = { EventLoop.wallNow() }

        public init(
            state: @escaping @Sendable () -> StoreState, record: @escaping @Sendable ([HistoryWrite]) -> Void,
            stageARN: @escaping @Sendable (_ stageID: String) -> String
        ) {
            (self.state, self.record, self.stageARN) = (state, record, stageARN)
        }

        public init(store: any GatewayStore, names: ResourceName) {
            self.init(
                state: { store.state }, record: { store.record($0) },
                stageARN: { store.state.stageARN(ofID: $0, names: names) })
        }
    }

    public let settings: NodeSettings
    let environment: Environment
    let local: LocalLeases
    /// Nil until a `ClusterMember` serves, and after it closed.
    let control = Lock<MailboxSender<ClusterOrder>?>(nil)
    private let known = Lock<[NodeRecord]>([])
    /// By stage, when the latest renewal was sent that found all that is held of it.
    private let renewals = Lock<[String: MonotonicTime]>([:])
    /// Publishers of the other nodes, by their heartbeats.
    private let elsewhere = Atomic<Int>(0)

    public init(settings: NodeSettings, environment: Environment) {
        (self.settings, self.environment) = (settings, environment)
        local = LocalLeases(node: settings.nodeID, record: environment.record, wallNow: environment.wallNow)
    }

    /// The nodes that live, this one among them, as last read; in the order of their ids.
    public var nodes: [NodeRecord] { known.withLock { $0 } }

    /// What this node holds of a stage was its own then, or later; nil where that is not known. For any thread.
    public func renewalTime(ofStage stageID: String) -> MonotonicTime? { renewals.withLock { $0[stageID] } }

    /// The configuration has changed: what is no longer permitted ends. For any thread.
    public func stateChanged() { order(.stateChanged) }

    public func claimPublish(
        _ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        if let refusal = refusal(of: grant) { return reply(.refused(refusal)) }
        if !takeOver, let incumbent = local.holder(ofParticipant: grant.participantID, stageID: grant.stageID) {
            return reply(.held(by: incumbent))
        }
        guard takeOver || hasRoom else { return reply(.refused(Refusal(.overloaded, sentence: Self.full))) }
        let claim = ClusterOrder.Claim(
            grant: grant, ingestProtocol: ingestProtocol, holder: holder, takesOver: takeOver, reply: reply)
        if !order(.claim(claim)) { reply(.refused(Refusal(.platformAway))) }
    }

    public func release(_ lease: PublishLease) {
        local.release(lease)
        order(.release(lease))
    }

    /// A renewal found nothing lost; where something was, what is on its way to its end may not count as ours.
    func renewed(stageID: String, sentAt: MonotonicTime) { renewals.withLock { $0[stageID] = sentAt } }

    /// Nothing is held of other stages any more.
    func keepRenewals(of isHeld: (_ stageID: String) -> Bool) {
        renewals.withLock { renewals in renewals = renewals.filter { isHeld($0.key) } }
    }

    /// The history is told of publishes whose nodes cannot tell.
    func closed(_ ended: [EndedLease], ofStage stage: String) {
        let (arn, now) = (environment.stageARN(stage), environment.wallNow())
        environment.record(
            ended.map { entry in
                .closed(
                    stageARN: arn, sessionID: entry.sessionID, participantID: entry.lease.key.participantID,
                    generation: entry.lease.generation, at: now)
            })
    }

    func sessionEnded(_ session: String, ofStage stage: String) {
        environment.record([
            .sessionEnded(stageARN: environment.stageARN(stage), sessionID: session, at: environment.wallNow())
        ])
    }

    func updateNodes(_ records: [NodeRecord]) {
        known.withLock { $0 = records }
        let others = records.reduce(0) { $0 + ($1.id == settings.nodeID ? 0 : max(0, $1.publishers)) }
        elsewhere.store(others, ordering: .relaxed)
    }

    /// Whether the cluster takes more publishers: of the other nodes what they said some seconds ago.
    private var hasRoom: Bool { local.count < settings.quotas.publishers - elsewhere.load(ordering: .relaxed) }

    private static let full =
        "All gateways together are at their limit of publishers: end one of them, or raise quotas.publishers."

    /// What became of the credential since it was found good.
    func refusal(of grant: PublishGrant) -> Refusal? {
        environment.state().refusal(of: grant, at: environment.wallNow())
    }

    /// - Returns: false when nobody serves, or too much waits.
    @discardableResult
    func order(_ order: ClusterOrder) -> Bool { control.withLock { $0 }?.send(order) ?? false }
}

extension ClusterLeases: PublishReports {
    public func publishStarted(_ lease: PublishLease) {
        if local.started(lease) { order(.announced(stageID: lease.stageID, sessionID: lease.stageSessionID)) }
    }

    public func publishWasTest(_ lease: PublishLease) { local.wasTest(lease) }

    public func publishFailed(_ lease: PublishLease, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        if local.failed(lease, errorCode: code) {
            order(.announced(stageID: lease.stageID, sessionID: lease.stageSessionID))
        }
    }

    public func publishWarned(_ lease: PublishLease, rule: String, sentence: String) {
        local.warned(lease, rule: rule, sentence: sentence)
    }

    /// Goes into the stage's running session, which the cluster knows; while the server is away, nowhere.
    public func publishRefused(_ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        order(.refused(grant, ingestProtocol, errorCode: code))
    }
}

/// Who watches through this node; the stage's session is known once the node has a lease of it.
extension ClusterLeases: ViewerReports {
    public func watchStarted(_ watching: Watching) { order(.watchStarted(watching)) }
    public func watchStopped(_ watching: Watching) { order(.watchStopped(watching)) }

    public func watchRefused(_ watching: Watching, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        order(.watchRefused(watching, errorCode: code))
    }
}

/// What the control plane asks and does, wherever a publish lives.
extension ClusterLeases: LeaseControl {
    public func activeSessions(
        ofStages arns: [String], reply: @escaping @Sendable (Result<[String: StageSession], StoreError>) -> Void
    ) {
        look(at: Set(arns), reply) { views in
            views.reduce(into: [:]) { sessions, view in
                guard view.value.isRecorded, let session = view.value.session else { return }
                sessions[view.key] = StageSession(stageARN: view.key, session)
            }
        }
    }

    public func live(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        live(among: participants, isSure: false, reply)
    }

    public func surelyLive(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        live(among: participants, isSure: true, reply)
    }

    private func live(
        among participants: Set<StageParticipant>, isSure: Bool,
        _ reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        look(at: Set(participants.map(\.stageARN)), isSure: isSure, reply) { views in
            participants.filter { views[$0.stageARN]?.participants.contains($0.participantID) == true }
        }
    }

    public func isHeldHere(_ participant: StageParticipant) -> Bool {
        let stage = ResourceName.identifier(inARN: participant.stageARN)
        return local.holder(ofParticipant: participant.participantID, stageID: stage) != nil
    }

    public func end(_ participant: StageParticipant, _ refusal: Refusal) { order(.end(participant, refusal)) }

    public func endAll(ofStage arn: String, _ refusal: Refusal) { order(.endAll(stageARN: arn, refusal)) }

    public func endRevoked() { stateChanged() }

    /// The node looks after them itself (`OwnStages`).
    public func endIdleSessions() {}

    private func look<Value: Sendable>(
        at stages: Set<String>, isSure: Bool = false, _ reply: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        _ make: @escaping @Sendable ([String: ClusterAnswer.StageView]) -> Value
    ) {
        let isOrdered = order(
            .look(stageARNs: stages, isSure: isSure) { views in
                if let views { reply(.success(make(views))) } else { reply(.failure(.away)) }
            })
        if !isOrdered { reply(.failure(.away)) }
    }
}

extension StageSession {
    init(stageARN: String, _ session: SharedSession) {
        self.init(
            stageARN: stageARN, sessionID: session.id,
            startTime: WallTime(nanosecondsSince1970: session.start.multipliedReportingOverflow(by: 1_000_000).partialValue))
    }
}
