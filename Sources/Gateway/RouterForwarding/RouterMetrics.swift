public import GatewayMetrics
import RTCP

/// What forwarding counts. Shared by all workers; each name is asked for once, labels are the configured routers.
public final class RouterMetrics: Sendable {
    let retransmissions: Counter
    let droppedPackets: Counter
    let unsent: Counter
    let acceptedFeedback: Counter
    let foreignFeedback: Counter
    let malformedFeedback: Counter
    let keyframeRequests: Counter
    let boundedKeyframeRequests: Counter
    /// From a run's last byte until its packets leave, as far as they leave at once.
    let latency: Histogram
    let routers: [String: RouterSeries]

    struct RouterSeries: Sendable {
        let packets: Counter
        let bytes: Counter
        let loss: Histogram
        let announces: Counter
        let failures: Counter
        let failovers: Counter
        let isUp: Gauge
    }

    /// - Parameter routers: the names in the configuration.
    public init(_ registry: MetricsRegistry, routers: [String]) {
        retransmissions = registry.counter("stagedoor_forward_retransmissions_total", "RTP packets sent again after a NACK.")
        droppedPackets = registry.counter(
            "stagedoor_forward_drop_total", "RTP packets that no router got: the socket was full for 500 ms, or at the end.",
            ["reason": "socket_full"])
        unsent = registry.counter(
            "stagedoor_udp_send_errors_total", "Datagrams that the kernel refused to send.", ["socket": "routers"])
        acceptedFeedback = registry.counter("stagedoor_router_feedback_total", "RTCP packets taken from routers.")
        foreignFeedback = registry.counter(
            "stagedoor_router_feedback_foreign_total", "RTCP packets about no SSRC of ours, or not from its router.")
        malformedFeedback = registry.counter(
            "stagedoor_router_feedback_malformed_total", "Datagrams at the routers' socket that are no RTCP.")
        func keyframeRequests(_ result: String) -> Counter {
            registry.counter(
                "stagedoor_pli_received_total", "PLI and FIR of routers: passed to encoders, or beyond their bounds.",
                ["result": result])
        }
        self.keyframeRequests = keyframeRequests("passed")
        boundedKeyframeRequests = keyframeRequests("bounded")
        latency = registry.histogram(
            "stagedoor_forward_latency_seconds",
            "Time from the arrival of a frame to its packets leaving, as far as they leave at once, of one frame in 16.",
            bounds: Histogram.loopSeconds)
        self.routers = Dictionary(routers.map { ($0, RouterSeries(registry, router: $0)) }) { first, _ in first }
    }

    /// Counts what happened to placements.
    public func note(_ story: RouterControl.Story) {
        switch story {
        case .announced(_, let router, _): routers[router]?.announces.increment()
        case .announceFailed(_, let router, _): routers[router]?.failures.increment()
        case .died(let router):
            routers[router]?.failovers.increment()
            routers[router]?.isUp.set(0)
        case .returned(let router): routers[router]?.isUp.set(1)
        case .noRouter, .lost: break
        }
    }

    func note(_ report: ReportBlock, of router: String) { routers[router]?.loss.observe(Double(report.fractionLost) / 256) }

    /// Bounds of the loss that receivers report: a 256th, a hundredth, a tenth.
    static let lossBounds = [0, 1.0 / 256, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5]
}

extension RouterMetrics.RouterSeries {
    init(_ registry: MetricsRegistry, router: String) {
        let labels: MetricLabels = ["router": router]
        packets = registry.counter("stagedoor_forward_packets_total", "RTP packets sent to routers.", labels)
        bytes = registry.counter("stagedoor_forward_bytes_total", "UDP payload of RTP sent to routers.", labels)
        loss = registry.histogram(
            "stagedoor_router_loss_ratio", "Loss on the way to the router, by its receiver reports.",
            bounds: RouterMetrics.lossBounds, labels)
        announces = registry.counter("stagedoor_router_announces_total", "Announces that the router answered.", labels)
        failures = registry.counter("stagedoor_router_announce_failures_total", "Announces that failed.", labels)
        failovers = registry.counter(
            "stagedoor_router_failover_total", "Times the router was found dead, and its stages left it.", labels)
        isUp = registry.gauge("stagedoor_router_up", "1 while the router is not found dead.", labels)
        isUp.set(1)
    }
}

/// One worker's share of what goes to one router: the two counters that every run touches. An object, shared by the legs.
final class RouterTraffic {
    private let packets: Counter
    private let bytes: Counter

    init(_ series: RouterMetrics.RouterSeries) { (packets, bytes) = (series.packets.shard(), series.bytes.shard()) }

    /// Counts what a leg hands to its queue.
    func count(_ batch: WireBatch) {
        packets.increment(by: batch.count)
        bytes.increment(by: batch.byteCount)
    }
}
