public import GatewayMetrics

/// What one worker counts about RTMP. Labels come from fixed sets.
public struct RTMPMetrics {
    let connections: Counter
    let protocolErrors: Counter
    let receivedBytes: Counter
    private let dropped: [String: Counter]

    public init(_ registry: MetricsRegistry) {
        connections = registry.counter("stagedoor_rtmp_connections_total", "RTMP connections accepted.").shard()
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

    /// What one publish has dropped, added up at its end.
    func count(_ counters: PipelineCounters) {
        dropped["malformed"]?.increment(by: counters.malformed)
        dropped["unconfigured"]?.increment(by: counters.unconfigured)
        dropped["unsupported"]?.increment(by: counters.unsupported)
        dropped["other_track"]?.increment(by: counters.otherTracks)
    }
}
