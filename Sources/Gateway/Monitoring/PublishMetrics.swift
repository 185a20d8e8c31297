public import Admission
public import GatewayMetrics
import Refusals
import StageHub
import Wire

/// What publishes of either protocol are counted by. Labels come from fixed sets: protocols, refusals' names, steps.
struct PublishMetrics: Sendable {
    private let registry: MetricsRegistry

    init(_ registry: MetricsRegistry) {
        self.registry = registry
        // Families exist from the start, so that alerts on what has not happened yet have something to look at.
        for ingest in [IngestProtocol.rtmp, .rtmps, .whip] {
            _ = attempts(ingest, "granted", "none")
            for step in ["firstVideo", "firstKeyframe", "firstAudio"] { _ = setup(ingest, step) }
            for reason in ["unpublished", "connection_lost"] { _ = ends(ingest, reason) }
            _ = violations(ingest, RefusalCode.bFrames.name)
        }
    }

    func granted(_ record: SessionRecord) {
        attempts(record.ingestProtocol, "granted", "none").increment()
        // WHIP times the steps of its sessions itself: most that fail never come to a publish.
        guard record.ingestProtocol != .whip else { return }
        let first = min(record.steps.first?.time ?? record.began, record.began)
        for step in record.steps { setup(record.ingestProtocol, step.name).observe(step.time - first) }
    }

    func reached(_ step: String, after elapsed: Duration, _ ingest: IngestProtocol) { setup(ingest, step).observe(elapsed) }

    func refused(_ attempt: RefusedAttempt) {
        if !attempt.wasLive { attempts(attempt.ingestProtocol, "refused", attempt.refusal.code.name).increment() }
        guard attempt.refusal.code.isContractViolation else { return }
        violations(attempt.ingestProtocol, attempt.refusal.code.name).increment()
    }

    func ended(_ record: SessionRecord) { ends(record.ingestProtocol, record.ending?.reason ?? "").increment() }

    private func attempts(_ ingest: IngestProtocol, _ result: String, _ reason: String) -> Counter {
        registry.counter(
            "stagedoor_publish_attempts_total", "Publishes granted and refused.",
            ["protocol": ingest.label, "result": result, "reason": reason])
    }

    private func violations(_ ingest: IngestProtocol, _ rule: String) -> Counter {
        registry.counter(
            "stagedoor_spec_violations_total", "Streams refused or ended because they broke the media contract.",
            ["protocol": ingest.label, "rule": rule])
    }

    private func ends(_ ingest: IngestProtocol, _ reason: String) -> Counter {
        registry.counter("stagedoor_session_end_total", "Publishes that ended.", ["protocol": ingest.label, "reason": reason])
    }

    private func setup(_ ingest: IngestProtocol, _ step: String) -> Histogram {
        registry.setupSeconds(ingest, step: step)
    }
}

extension MetricsRegistry {
    /// How long sessions of a protocol take to a step on their way.
    public func setupSeconds(_ ingest: IngestProtocol, step: String) -> Histogram {
        histogram(
            "stagedoor_setup_seconds", "Time from a session's first step to each later one.",
            ["protocol": ingest.label, "stage": step])
    }
}
