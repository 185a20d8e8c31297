public import GatewayMetrics
import Wire

/// What WHIP counts. Shared by all workers; each name is asked for once.
public final class WHIPMetrics: Sendable {
    let received: Counter
    let lost: Counter
    let recovered: Counter
    let nacks: Counter
    let keyframeRequests: Counter
    private let steps: [SessionStory.Step: Histogram]

    public init(_ registry: MetricsRegistry) {
        received = registry.counter("stagedoor_whip_packets_total", "RTP packets received from WHIP publishers.")
        lost = registry.counter("stagedoor_whip_lost_packets_total", "RTP packets that never came, retransmissions counted.")
        recovered = registry.counter("stagedoor_nack_recovered_total", "Lost RTP packets that a retransmission brought.")
        nacks = registry.counter("stagedoor_nack_sent_total", "Packets asked for again.")
        keyframeRequests = registry.counter("stagedoor_pli_sent_total", "Keyframes asked of WHIP publishers.")
        var steps: [SessionStory.Step: Histogram] = [:]
        for step in SessionStory.Step.allCases where step != .posted && step != .ended {
            steps[step] = registry.histogram(
                "stagedoor_whip_setup_seconds", "Time from the POST to each step of a session.", ["step": step.rawValue])
        }
        self.steps = steps
    }

    func observe(_ step: SessionStory.Step, _ elapsed: Duration) { steps[step]?.observe(elapsed) }
}
