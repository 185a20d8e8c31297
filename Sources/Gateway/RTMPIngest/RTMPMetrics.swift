import GatewayMetrics
import Refusals

/// What one worker counts about RTMP. Labels come from fixed sets.
struct RTMPMetrics {
    let connections: Counter
    let receivedBytes: Counter
    private let protocolErrors: [RefusalCode: Counter]
    let refused: Counter
    let displaced: Counter
    /// A balancer's, without a header of the PROXY protocol that we take.
    let headless: Counter
    private let malformed: Counter
    private let unconfigured: Counter
    private let unsupported: Counter
    private let otherTracks: Counter

    init(_ registry: MetricsRegistry) {
        connections = registry.counter("stagedoor_rtmp_connections_total", "RTMP connections accepted.").shard()
        protocolErrors = RefusalCode.ofRTMPErrors.reduce(into: [:]) { counters, code in
            counters[code] = registry.counter(
                "stagedoor_rtmp_protocol_errors_total", "RTMP connections ended because of malformed input.",
                ["reason": code.name]
            ).shard()
        }
        receivedBytes = registry.counter("stagedoor_rtmp_received_bytes_total", "Bytes read from RTMP connections.").shard()
        func closed(_ reason: String) -> Counter {
            registry.counter(
                "stagedoor_rtmp_closed_total",
                "RTMP connections closed unpublished: a limit, or no PROXY header of a balancer.", ["reason": reason]
            ).shard()
        }
        (refused, displaced, headless) = (closed("refused"), closed("displaced"), closed("proxy_header"))
        func dropped(_ reason: String) -> Counter {
            registry.counter(
                "stagedoor_rtmp_media_dropped_total", "Media messages or tracks that were not forwarded.", ["reason": reason]
            ).shard()
        }
        (malformed, unconfigured) = (dropped("malformed"), dropped("unconfigured"))
        (unsupported, otherTracks) = (dropped("unsupported"), dropped("other_track"))
    }

    /// A connection that could not go on.
    func count(_ refusal: Refusal) { protocolErrors[refusal.code]?.increment() }

    /// What one publish has dropped, added up at its end.
    func count(_ counters: PipelineCounters) {
        malformed.increment(by: counters.malformed)
        unconfigured.increment(by: counters.unconfigured)
        unsupported.increment(by: counters.unsupported)
        otherTracks.increment(by: counters.otherTracks)
    }
}
