public import GatewayMetrics
import Refusals

/// What one worker counts about RTMP. Labels come from fixed sets.
public struct RTMPMetrics {
    private let registry: MetricsRegistry
    let connections: Counter
    let publishes: Counter
    let protocolErrors: Counter
    let receivedBytes: Counter
    private let dropped: [String: Counter]

    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        connections = registry.counter("stagedoor_rtmp_connections_total", "RTMP connections accepted.").shard()
        publishes = registry.counter("stagedoor_rtmp_publishes_total", "RTMP publishes granted.").shard()
        protocolErrors = registry.counter(
            "stagedoor_rtmp_protocol_errors_total", "RTMP connections ended because of malformed input."
        ).shard()
        receivedBytes = registry.counter("stagedoor_rtmp_received_bytes_total", "Bytes read from RTMP connections.").shard()
        dropped = ["malformed", "unconfigured", "unsupported", "other_track"].reduce(into: [:]) { counters, reason in
            counters[reason] = registry.counter(
                "stagedoor_rtmp_media_dropped_total", "Media messages or tracks that were not forwarded.", ["reason": reason]
            ).shard()
        }
    }

    /// One publish turned away or ended by us.
    func countRefusal(_ code: RefusalCode) {
        registry.counter("stagedoor_rtmp_refusals_total", "RTMP publishes refused or ended.", ["reason": code.name]).increment()
    }

    /// What one publish has dropped, added up at its end.
    func count(_ counters: PipelineCounters) {
        dropped["malformed"]?.increment(by: counters.malformed)
        dropped["unconfigured"]?.increment(by: counters.unconfigured)
        dropped["unsupported"]?.increment(by: counters.unsupported)
        dropped["other_track"]?.increment(by: counters.otherTracks)
    }
}
