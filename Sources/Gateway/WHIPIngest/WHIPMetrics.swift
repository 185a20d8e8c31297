import Admission
public import GatewayMetrics
import Monitoring
import Refusals
import Wire

/// What WHIP counts. Shared by all workers; each name is asked for once.
public final class WHIPMetrics: Sendable {
    let recovered: Counter
    let nacks: Counter
    let keyframeRequests: Counter
    let malformed: Counter
    private let steps: [SessionStory.Step: Histogram]
    /// By the last step of the way that a session came to.
    private let unpublished: [SessionStory.Step: Counter]

    public init(_ registry: MetricsRegistry) {
        recovered = registry.counter("stagedoor_nack_recovered_total", "Lost RTP packets that a retransmission brought.")
        nacks = registry.counter("stagedoor_nack_sent_total", "Packets asked for again.")
        keyframeRequests = registry.counter("stagedoor_pli_sent_total", "Keyframes asked of WHIP publishers.")
        malformed = registry.counter(
            "stagedoor_whip_malformed_payloads_total", "H.264 payloads that could not be read, or only their beginning.")
        var steps: [SessionStory.Step: Histogram] = [:]
        for step in Self.ways { steps[step] = registry.setupSeconds(.whip, step: step.rawValue) }
        self.steps = steps
        unpublished = [SessionStory.Step.posted, .firstCheck, .claimed, .handshakeDone].reduce(into: [:]) { counters, step in
            counters[step] = registry.counter(
                "stagedoor_whip_unpublished_total", "WHIP sessions that ended before they published, by their last step.",
                ["step": step.rawValue])
        }
    }

    /// A session is over. One that was answered and never came to a publish is neither granted nor
    /// refused: nothing else counts it.
    func ended(_ story: SessionStory, _ reason: SessionEnd) {
        guard reason == .closed || reason == .connectionLost, !story.contains(.leaseGranted) else { return }
        // Media may come before the lease, and is none of these steps.
        if let last = story.entries.last(where: { unpublished[$0.step] != nil }) { unpublished[last.step]?.increment() }
    }

    func observe(_ step: SessionStory.Step, _ elapsed: Duration) { steps[step]?.observe(elapsed) }

    /// Steps of a session's way; its media is timed as that of every publish.
    private static let ways: [SessionStory.Step] = [.firstCheck, .claimed, .handshakeDone, .leaseGranted, .announced]
}
