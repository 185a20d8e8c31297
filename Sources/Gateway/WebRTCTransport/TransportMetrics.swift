public import GatewayMetrics

/// What the media port counts, for sessions of every purpose. Shared by all workers; each name is asked for once.
public final class TransportMetrics: Sendable {
    let checks: Counter
    let rejectedChecks: Counter
    let garbage: Counter
    let unverifiedDTLS: Counter
    let failedHandshakes: Counter
    let authenticationFailures: Counter
    let replays: Counter
    let foreign: Counter
    let foreignDropped: Counter
    let passedOn: Counter
    let missingETags: Counter
    let kernelDrops: Counter
    let unsent: Counter
    let refusedStreams: Counter
    let displacedStreams: Counter
    private let registry: MetricsRegistry

    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        checks = registry.counter("stagedoor_stun_checks_total", "Connectivity checks answered.")
        rejectedChecks = registry.counter(
            "stagedoor_stun_rejected_total", "Connectivity checks with wrong integrity, unanswered.")
        garbage = registry.counter("stagedoor_media_garbage_total", "Datagrams on the media port that belong to nothing.")
        unverifiedDTLS = registry.counter(
            "stagedoor_dtls_unverified_source_total", "DTLS datagrams from tuples without a genuine check, dropped.")
        failedHandshakes = registry.counter("stagedoor_dtls_failed_total", "DTLS handshakes that failed.")
        authenticationFailures = registry.counter("stagedoor_srtp_auth_fail_total", "SRTP packets whose tag was wrong.")
        replays = registry.counter("stagedoor_srtp_replay_total", "SRTP packets received before.")
        foreign = registry.counter("stagedoor_foreign_datagrams_total", "Datagrams handed to the worker that owns the session.")
        foreignDropped = registry.counter(
            "stagedoor_foreign_dropped_total", "Datagrams dropped because the way to their owner was full.")
        passedOn = registry.counter(
            "stagedoor_handover_datagrams_total", "Datagrams passed on to the process before this one, which answers them.")
        missingETags = registry.counter(
            "stagedoor_whip_missing_etag_total", "PATCH requests without If-Match that were let pass.")
        kernelDrops = registry.counter(
            "stagedoor_udp_rcvbuf_errors_total", "Datagrams that the kernel dropped because the media port's buffer was full.")
        unsent = registry.counter(
            "stagedoor_udp_send_errors_total", "Datagrams that the kernel refused to send.", ["socket": "media"])
        func closed(_ reason: String) -> Counter {
            registry.counter(
                "stagedoor_ice_tcp_closed_total", "ICE-TCP connections beyond a limit that had shown no check.",
                ["reason": reason])
        }
        (refusedStreams, displacedStreams) = (closed("refused"), closed("displaced"))
    }

    /// How much of the media port's work a worker does: the kernel spreads it by the peers' addresses.
    func received(by worker: Int) -> Counter {
        registry.counter(
            "stagedoor_media_datagrams_total", "Datagrams taken from the media socket.", ["loop": "worker-\(worker)"])
    }
}
