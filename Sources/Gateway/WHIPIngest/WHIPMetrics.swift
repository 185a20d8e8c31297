public import GatewayMetrics
import Wire

/// What WHIP counts. Shared by all workers; each name is asked for once.
public final class WHIPMetrics: Sendable {
    let checks: Counter
    let rejectedChecks: Counter
    let garbage: Counter
    let unverifiedDTLS: Counter
    let failedHandshakes: Counter
    let authenticationFailures: Counter
    let replays: Counter
    let foreign: Counter
    let foreignDropped: Counter
    let received: Counter
    let lost: Counter
    let recovered: Counter
    let nacks: Counter
    let keyframeRequests: Counter
    let missingETags: Counter
    private let steps: [SessionStory.Step: Histogram]

    public init(_ registry: MetricsRegistry) {
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
            "stagedoor_foreign_dropped_total", "Datagrams dropped because that worker's ring was full.")
        received = registry.counter("stagedoor_whip_packets_total", "RTP packets received from WHIP publishers.")
        lost = registry.counter("stagedoor_whip_lost_packets_total", "RTP packets that never came, retransmissions counted.")
        recovered = registry.counter("stagedoor_nack_recovered_total", "Lost RTP packets that a retransmission brought.")
        nacks = registry.counter("stagedoor_nack_sent_total", "Packets asked for again.")
        keyframeRequests = registry.counter("stagedoor_pli_sent_total", "Keyframes asked of WHIP publishers.")
        missingETags = registry.counter(
            "stagedoor_whip_missing_etag_total", "PATCH requests without If-Match that were let pass.")
        var steps: [SessionStory.Step: Histogram] = [:]
        for step in SessionStory.Step.allCases where step != .posted && step != .ended {
            steps[step] = registry.histogram(
                "stagedoor_whip_setup_seconds", "Time from the POST to each step of a session.", ["step": step.rawValue])
        }
        self.steps = steps
    }

    func observe(_ step: SessionStory.Step, _ elapsed: Duration) { steps[step]?.observe(elapsed) }
}
