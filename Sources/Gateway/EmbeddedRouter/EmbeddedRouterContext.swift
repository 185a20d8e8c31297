public import Admission
import EventLoop
public import GatewayMetrics
import Refusals
public import Settings
import Synchronization
public import WebRTCTransport
import Wire

/// What the embedded router's parts on all workers share: who is live, who subscribes, and the inboxes from worker to worker.
public final class EmbeddedRouterContext: Sendable {
    public let settings: EmbeddedSettings
    /// The subscribers' statistics, for whoever shows them.
    public let registry = SubscriberRegistry()
    let transport: TransportContext
    let authorizer: any SubscribeAuthorizer
    /// Told who watches whom; nil where nobody keeps a history.
    let reports: (any ViewerReports)?
    /// What all sessions of one viewer take together.
    let allowances: ViewerAllowances
    let metrics: EmbeddedRouterMetrics
    let taps = TapDirectory()
    let entries = ShardedTable<String, SubscriberEntry>()
    let inboxes: [RouterInbox]
    /// WHEP sessions.
    let subscribers: ViewerRegistry
    /// Watch pages that are told who is live.
    let pages = ViewerRegistry(
        of: .pages, .init(total: StageBoard.maximumWatchers, perStage: 400, perAddress: 100, perToken: 16))
    private let numbers = Atomic<UInt64>(0)

    /// - Parameter workerCount: how many `EmbeddedRouterWorker`s there will be.
    public init(
        settings: EmbeddedSettings = EmbeddedSettings(), transport: TransportContext, authorizer: any SubscribeAuthorizer,
        reports: (any ViewerReports)? = nil, workerCount: Int, metrics: EmbeddedRouterMetrics
    ) {
        (self.settings, self.transport, self.authorizer) = (settings, transport, authorizer)
        (self.reports, self.metrics) = (reports, metrics)
        allowances = ViewerAllowances(bitsPerSecond: settings.viewerBitrate)
        subscribers = ViewerRegistry(
            of: .sessions,
            .init(
                total: settings.maximumSubscribers, perStage: settings.subscribersPerStage,
                perAddress: settings.subscribersPerAddress, perToken: settings.subscribersPerToken))
        inboxes = (0..<workerCount).map { _ in RouterInbox(wakeUp: .media) }
    }

    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

    // MARK: - Viewers

    /// Everybody who watches on this node now.
    public var viewers: Set<TokenBearer> { subscribers.bearers.union(pages.bearers) }

    /// Ends the sessions and pages of everybody whose token was taken away. Called once or twice a second.
    public func endViewers(refusedBy standing: any TokenStanding) {
        subscribers.end(refusedBy: standing)
        pages.end(refusedBy: standing)
    }

    /// Gives a WHEP session a place, by whose number `SubscriberEntry.place` knows it.
    func takePlace(_ viewer: ViewerRegistry.Viewer) throws(Refusal) -> UInt64 {
        let number = try subscribers.enter(viewer)
        metrics.subscribers.increment()
        return number
    }

    /// The last step of every subscriber's session.
    func finish(_ entry: SubscriberEntry, _ reason: SessionEnd) {
        entries[entry.transport.id] = nil
        transport.remove(entry)
        registry.remove(entry.transport.id)
        allowances.leave(entry.viewer, session: entry.transport.id)
        subscribers.leave(entry.place)
        metrics.subscribers.decrement()
        SubscriberLog.ended(entry, reason)
    }
}

/// What the embedded router counts. Shared by all workers.
public final class EmbeddedRouterMetrics: Sendable {
    let subscribers: Gauge
    let packets: Counter
    let retransmissions: Counter
    let keyframeRequests: Counter
    let laggingFeeds: Counter
    let layerSwitches: Counter

    public init(_ registry: MetricsRegistry) {
        subscribers = registry.gauge("stagedoor_whep_subscribers", "WHEP sessions, those not yet connected included.")
        packets = registry.counter("stagedoor_whep_packets_total", "RTP packets sent to subscribers.")
        retransmissions = registry.counter("stagedoor_whep_retransmissions_total", "RTP packets sent to subscribers again.")
        keyframeRequests = registry.counter(
            "stagedoor_whep_keyframe_requests_total", "Keyframes asked of publishers for subscribers.")
        layerSwitches = registry.counter(
            "stagedoor_whep_layer_switches_total", "Times that a subscriber went from one layer to another.")
        laggingFeeds = registry.counter(
            "stagedoor_whep_lagging_total", "Times that a worker with subscribers fell half a second behind a publisher.")
    }
}
