import Admission
public import GatewayMetrics
import Monitoring
import Wire

/// What WHIP counts. Shared by all workers; each name is asked for once.
public final class WHIPMetrics: Sendable {
    let recovered: Counter
    let nacks: Counter
    let keyframeRequests: Counter
    let malformed: Counter
    /// Steps of a session's way; its media is timed as that of every publish.
    private static let ways: [SessionStory.Step] = [.firstCheck, .claimed, .handshakeDone, .leaseGranted, .announced]
    private let steps: [SessionStory.Step: Histogram]

    public init(_ registry: MetricsRegistry) {
        recovered = registry.counter("stagedoor_nack_recovered_total", "Lost RTP packets that a retransmission brought.")
        nacks = registry.counter("stagedoor_nack_sent_total", "Packets asked for again.")
        keyframeRequests = registry.counter("stagedoor_pli_sent_total", "Keyframes asked of WHIP publishers.")
        malformed = registry.counter(
            "stagedoor_whip_malformed_payloads_total", "H.264 payloads that could not be read, or only their beginning.")
        var steps: [SessionStory.Step: Histogram] = [:]
        for step in Self.ways { steps[step] = registry.setupSeconds(.whip, step: step.rawValue) }
        self.steps = steps
    }

    func observe(_ step: SessionStory.Step, _ elapsed: Duration) { steps[step]?.observe(elapsed) }
}
