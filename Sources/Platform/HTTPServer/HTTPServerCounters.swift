public import GatewayMetrics

/// What a server has done and refused. Its loop counts, anybody reads.
public struct HTTPServerCounters: Sendable {
    /// Connections taken.
    public let accepted: Counter
    /// Turned away because the server, or their address, had its share.
    public let refused: Counter
    /// Closed without a whole request, for a newcomer, when there was no place left.
    public let displaced: Counter
    /// Requests that reached a handler.
    public let requests: Counter
    /// Requests refused before a handler saw them: malformed, too large, in the clear where TLS is spoken.
    public let malformed: Counter
    /// Requests, and connections that had none yet, cut by a deadline.
    public let timedOut: Counter

    /// Of one server alone.
    public init() {
        (accepted, refused, displaced) = (Counter(), Counter(), Counter())
        (requests, malformed, timedOut) = (Counter(), Counter(), Counter())
    }

    /// Part of the metrics of a listener, which its servers on all loops make up together.
    /// - Parameter listener: `http`, `https` or `admin`.
    public init(_ registry: MetricsRegistry, listener: String) {
        func closed(_ reason: String) -> Counter {
            let counter = registry.counter(
                "stagedoor_http_closed_total", "HTTP connections and requests that were turned away or cut.",
                ["listener": listener, "reason": reason])
            return counter.shard()
        }
        let labels: MetricLabels = ["listener": listener]
        accepted = registry.counter("stagedoor_http_connections_total", "HTTP connections taken.", labels).shard()
        requests = registry.counter("stagedoor_http_requests_total", "HTTP requests that arrived whole.", labels).shard()
        (refused, displaced) = (closed("refused"), closed("displaced"))
        (malformed, timedOut) = (closed("malformed"), closed("timeout"))
    }
}
