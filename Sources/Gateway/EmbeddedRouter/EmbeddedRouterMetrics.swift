public import GatewayMetrics

/// What the embedded router counts. Shared by all workers.
public final class EmbeddedRouterMetrics: Sendable {
    let subscribers: Gauge
    let packets: Counter
    let retransmissions: Counter
    let keyframeRequests: Counter
    let laggingFeeds: Counter

    public init(_ registry: MetricsRegistry) {
        subscribers = registry.gauge("stagedoor_whep_subscribers", "WHEP sessions, those not yet connected included.")
        packets = registry.counter("stagedoor_whep_packets_total", "RTP packets sent to subscribers.")
        retransmissions = registry.counter("stagedoor_whep_retransmissions_total", "RTP packets sent to subscribers again.")
        keyframeRequests = registry.counter(
            "stagedoor_whep_keyframe_requests_total", "Keyframes asked of publishers for subscribers.")
        laggingFeeds = registry.counter(
            "stagedoor_whep_lagging_total", "Times that a worker with subscribers fell half a second behind a publisher.")
    }
}
