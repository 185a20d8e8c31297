import GatewayMetrics
public import Admission
import Refusals
import Synchronization
public import WebRTCTransport
import Wire

/// What the embedded router's parts on all workers share: who is live, who subscribes, and the doors from worker to worker.
public final class EmbeddedRouterPlane: Sendable {
    public struct Configuration: Sendable {
        /// Subscribers at a time, those not yet connected included.
        public var maximumSubscribers = 50
        /// How long a subscriber waits for a participant who left, before its session ends.
        public var absence: Duration = .seconds(10)

        public init() {}
    }

    public let configuration: Configuration
    /// The subscribers' statistics, for whoever shows them.
    public let registry = SubscriberRegistry()
    let transport: TransportPlane
    let authorizer: any SubscribeAuthorizer
    let metrics: EmbeddedRouterMetrics
    let taps = TapDirectory()
    let entries = ShardedTable<String, SubscriberEntry>()
    let doors: [RouterDoor]
    private let occupied = Atomic<Int>(0)
    private let numbers = Atomic<UInt64>(0)

    /// - Parameter workerCount: how many `EmbeddedRouterWorker`s there will be.
    public init(
        configuration: Configuration = Configuration(), transport: TransportPlane, authorizer: any SubscribeAuthorizer,
        workerCount: Int, metrics: EmbeddedRouterMetrics
    ) {
        (self.configuration, self.transport, self.authorizer) = (configuration, transport, authorizer)
        self.metrics = metrics
        doors = (0..<workerCount).map { _ in RouterDoor() }
    }

    func nextNumber() -> UInt64 { numbers.add(1, ordering: .relaxed).newValue }

    // MARK: - Places

    /// False when all places are taken.
    func takePlace() -> Bool {
        guard occupied.add(1, ordering: .acquiringAndReleasing).newValue <= configuration.maximumSubscribers else {
            occupied.subtract(1, ordering: .acquiringAndReleasing)
            return false
        }
        metrics.subscribers.increment()
        return true
    }

    func freePlace() {
        occupied.subtract(1, ordering: .acquiringAndReleasing)
        metrics.subscribers.decrement()
    }

    /// The last step of every subscriber's session.
    func finish(_ entry: SubscriberEntry, _ reason: SessionEnd) {
        entries[entry.transport.id] = nil
        transport.remove(entry)
        registry.remove(entry.transport.id)
        freePlace()
        SubscriberLog.ended(entry, reason)
    }
}
