public import Admission
import EventLoop
public import Refusals
import Settings
public import Store
import Synchronization
public import Wire

/// The leases of one node of a platform, whose nodes share them on a Redis or Valkey (docs/design.md 7.4).
///
/// For any thread. Who holds what here is known here; who may is decided on the control loop by a `ClusterNode`, which asks the
/// server first. Live media never waits for it, and never ends because the server is away.
public final class ClusterLeases: Sendable {
    /// What the node knows and keeps beside its leases.
    public struct Platform: Sendable {
        /// The configuration as last read.
        public var state: @Sendable () -> PlatformState
        /// Appends to the history; never waits.
        public var record: @Sendable ([HistoryWrite]) -> Void
        /// The ARN of a stage, which may have been deleted.
        public var stageARN: @Sendable (_ stageID: String) -> String
        public var wallNow: @Sendable () -> WallTime = { EventLoop.wallNow() }

        public init(
            state: @escaping @Sendable () -> PlatformState, record: @escaping @Sendable ([HistoryWrite]) -> Void,
            stageARN: @escaping @Sendable (_ stageID: String) -> String
        ) {
            (self.state, self.record, self.stageARN) = (state, record, stageARN)
        }

        public init(store: any PlatformStore, names: ResourceName) {
            self.init(state: { store.state }, record: { store.record($0) }, stageARN: { names.arn(.stage, $0) })
        }
    }

    public let settings: NodeSettings
    let platform: Platform
    let local: LocalLeases
    /// Nil until a `ClusterNode` serves, and after it closed.
    let control = Lock<MailboxSender<ClusterOrder>?>(nil)
    private let known = Lock<[NodeRecord]>([])
    /// Publishers of the other nodes, by their heartbeats.
    private let elsewhere = Atomic<Int>(0)

    public init(settings: NodeSettings, platform: Platform) {
        (self.settings, self.platform) = (settings, platform)
        local = LocalLeases(record: platform.record, wallNow: platform.wallNow)
    }

    /// The nodes that live, this one among them, as last read; in the order of their ids.
    public var nodes: [NodeRecord] { known.withLock { $0 } }

    /// The configuration has changed: what is no longer permitted ends. For any thread.
    public func stateChanged() { order(.stateChanged) }

    public func claimPublish(
        _ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (Admission.ClaimAnswer) -> Void
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

    func updateNodes(_ records: [NodeRecord]) {
        known.withLock { $0 = records }
        let others = records.reduce(0) { $0 + ($1.id == settings.nodeID ? 0 : max(0, $1.publishers)) }
        elsewhere.store(others, ordering: .relaxed)
    }

    /// Whether the platform takes more publishers: of the other nodes what they said some seconds ago.
    private var hasRoom: Bool { local.count < settings.quotas.publishers - elsewhere.load(ordering: .relaxed) }

    private static let full =
        "All gateways together are at their limit of publishers: end one of them, or raise quotas.publishers."

    /// What became of the credential since it was found good.
    func refusal(of grant: PublishGrant) -> Refusal? {
        platform.state().refusal(of: grant, at: platform.wallNow())
    }

    /// - Returns: false when nobody serves, or too much waits.
    @discardableResult
    func order(_ order: ClusterOrder) -> Bool { control.withLock { $0 }?.send(order) ?? false }
}

extension ClusterLeases: PublishReports {
    public func publishStarted(_ lease: PublishLease) {
        if local.started(lease) { order(.announced(stageID: lease.stageID, sessionID: lease.stageSessionID)) }
    }

    public func publishFailed(_ lease: PublishLease, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        if local.failed(lease, errorCode: code) {
            order(.announced(stageID: lease.stageID, sessionID: lease.stageSessionID))
        }
    }

    public func publishWarned(_ lease: PublishLease, rule: String, sentence: String) {
        local.warned(lease, rule: rule, sentence: sentence)
    }

    /// Goes into the stage's running session, which the platform knows; while the server is away, nowhere.
    public func publishRefused(_ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, _ refusal: Refusal) {
        guard let code = refusal.code.eventErrorCode else { return }
        order(.refused(grant, ingestProtocol, errorCode: code))
    }
}
