import RTCP
public import GatewayMetrics

/// What forwarding counts. Shared by all workers; each name is asked for once, labels are the configured routers.
public final class RouterMetrics: Sendable {
    let packets: Counter
    let bytes: Counter
    let retransmissions: Counter
    let droppedPackets: Counter
    let acceptedFeedback: Counter
    let foreignFeedback: Counter
    let malformedFeedback: Counter
    let keyframeRequests: Counter
    let boundedKeyframeRequests: Counter
    /// From a run's last byte to its packets' way out.
    let latency: Histogram
    private let routers: [String: RouterSeries]

    struct RouterSeries: Sendable {
        let loss: Histogram
        let announces: Counter
        let failures: Counter
        let deaths: Counter
        let isAlive: Gauge
    }

    /// Bounds of the loss that receivers report: a 256th, a hundredth, a tenth.
    static let lossBounds = [0, 1.0 / 256, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5]

    /// - Parameter routers: the names in the configuration.
    public init(_ registry: MetricsRegistry, routers: [String]) {
        packets = registry.counter("stagedoor_router_packets_total", "RTP packets sent to routers.")
        bytes = registry.counter("stagedoor_router_bytes_total", "UDP payload of RTP sent to routers.")
        retransmissions = registry.counter("stagedoor_router_retransmissions_total", "RTP packets sent again after a NACK.")
        droppedPackets = registry.counter(
            "stagedoor_router_dropped_packets_total", "RTP packets dropped because the socket was full for 500 ms.")
        acceptedFeedback = registry.counter("stagedoor_router_feedback_total", "RTCP packets taken from routers.")
        foreignFeedback = registry.counter(
            "stagedoor_router_feedback_foreign_total", "RTCP packets about no SSRC of ours, or not from its router.")
        malformedFeedback = registry.counter(
            "stagedoor_router_feedback_malformed_total", "Datagrams at the routers' socket that are no RTCP.")
        keyframeRequests = registry.counter(
            "stagedoor_router_keyframe_requests_total", "PLI and FIR of routers passed to encoders.")
        boundedKeyframeRequests = registry.counter(
            "stagedoor_router_keyframe_requests_bounded_total", "PLI and FIR of routers beyond their bounds.")
        latency = registry.histogram(
            "stagedoor_forward_latency_seconds",
            "Time from the arrival of a frame to its packets being handed on, of one frame in 16 of each track.",
            bounds: Histogram.loopSeconds)
        self.routers = Dictionary(routers.map { ($0, RouterSeries(registry, router: $0)) }) { first, _ in first }
    }

    /// Counts what placement tells.
    public func note(_ story: RouterControl.Story) {
        switch story {
        case .announced(_, let router, _): routers[router]?.announces.increment()
        case .announceFailed(_, let router, _): routers[router]?.failures.increment()
        case .died(let router):
            routers[router]?.deaths.increment()
            routers[router]?.isAlive.set(0)
        case .returned(let router): routers[router]?.isAlive.set(1)
        case .noRouter, .lost: break
        }
    }

    func note(_ report: ReportBlock, of router: String) { routers[router]?.loss.observe(Double(report.fractionLost) / 256) }
}

extension RouterMetrics.RouterSeries {
    init(_ registry: MetricsRegistry, router: String) {
        let labels: MetricLabels = ["router": router]
        loss = registry.histogram(
            "stagedoor_router_loss_ratio", "Loss on the way to the router, by its receiver reports.",
            bounds: RouterMetrics.lossBounds, labels)
        announces = registry.counter("stagedoor_router_announces_total", "Announces that the router answered.", labels)
        failures = registry.counter("stagedoor_router_announce_failures_total", "Announces that failed.", labels)
        deaths = registry.counter("stagedoor_router_deaths_total", "Times the router was found dead.", labels)
        isAlive = registry.gauge("stagedoor_router_alive", "1 while the router is not found dead.", labels)
        isAlive.set(1)
    }
}
