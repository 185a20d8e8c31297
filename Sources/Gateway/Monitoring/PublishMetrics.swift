public import Admission
public import GatewayMetrics
public import Refusals
import StageHub
import Wire

/// What a publish's media comes to once, by the names under which operators see it.
enum FirstMedia: String, CaseIterable { case firstVideo, firstKeyframe, firstAudio }

/// What publishes of either protocol are counted by. Labels come from fixed sets: protocols, refusals' names, steps.
struct PublishMetrics: Sendable {
    private let registry: MetricsRegistry
    private let usual: [IngestProtocol: Usual]

    /// What nearly every publish of a protocol is counted by, looked up once.
    private struct Usual {
        let granted: Counter
        /// By reason.
        let ends: [String: Counter]
        /// By step.
        let setup: [String: Histogram]
    }

    private static let rtmpSteps = ["accepted", "handshakeDone", "connected", "publishRequested", "authorized", "granted"]

    /// Families exist from the start, so that alerts on what has not happened yet have something to look at.
    init(_ registry: MetricsRegistry) {
        self.registry = registry
        usual = [IngestProtocol.rtmp, .rtmps, .whip].reduce(into: [:]) { usual, ingest in
            let steps = FirstMedia.allCases.map(\.rawValue) + (ingest == .whip ? [] : Self.rtmpSteps)
            usual[ingest] = Usual(
                granted: Self.attempts(registry, ingest, "granted", "none"),
                ends: [SessionEnd.closed.name, SessionEnd.connectionLost.name].reduce(into: [:]) {
                    $0[$1] = Self.ends(registry, ingest, $1)
                },
                setup: steps.reduce(into: [:]) { $0[$1] = registry.setupSeconds(ingest, step: $1) })
            _ = Self.violations(registry, ingest, RefusalCode.bFrames.name)
        }
    }

    func granted(_ record: SessionRecord) {
        usual[record.ingestProtocol]?.granted.increment()
        // WHIP times the steps of its sessions itself: most that fail never come to a publish.
        guard record.ingestProtocol != .whip else { return }
        let steps = record.steps
        let first = min(steps.first?.time ?? record.began, record.began)
        for step in steps { setup(record.ingestProtocol, step.name).observe(step.time - first) }
    }

    func reached(_ step: String, after elapsed: Duration, _ ingest: IngestProtocol) { setup(ingest, step).observe(elapsed) }

    func refused(_ attempt: RefusedAttempt) {
        let isAttempt = !attempt.wasLive && !attempt.isInquiry
        if isAttempt { Self.attempts(registry, attempt.ingestProtocol, "refused", attempt.refusal.code.name).increment() }
        guard attempt.refusal.code.isContractViolation else { return }
        Self.violations(registry, attempt.ingestProtocol, attempt.refusal.code.name).increment()
    }

    func ended(_ record: SessionRecord) {
        let (ingest, reason) = (record.ingestProtocol, record.ending?.reason ?? "")
        (usual[ingest]?.ends[reason] ?? Self.ends(registry, ingest, reason)).increment()
    }

    private static func attempts(_ registry: MetricsRegistry, _ ingest: IngestProtocol, _ result: String, _ reason: String)
        -> Counter
    {
        registry.counter(
            "stagedoor_publish_attempts_total", "Publishes granted and refused.",
            ["protocol": ingest.label, "result": result, "reason": reason])
    }

    private static func violations(_ registry: MetricsRegistry, _ ingest: IngestProtocol, _ rule: String) -> Counter {
        registry.counter(
            "stagedoor_spec_violations_total", "Streams refused or ended because they broke the media contract.",
            ["protocol": ingest.label, "rule": rule])
    }

    private static func ends(_ registry: MetricsRegistry, _ ingest: IngestProtocol, _ reason: String) -> Counter {
        registry.counter("stagedoor_session_end_total", "Publishes that ended.", ["protocol": ingest.label, "reason": reason])
    }

    private func setup(_ ingest: IngestProtocol, _ step: String) -> Histogram {
        usual[ingest]?.setup[step] ?? registry.setupSeconds(ingest, step: step)
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

extension IngestProtocol {
    /// As metric labels and log fields have it.
    var label: String { rawValue.lowercased() }
}

extension RefusalCode {
    /// A rule of the media contract was broken: the table keeps 1040 to 1069 for those.
    public var isContractViolation: Bool { (1040...1069).contains(number) }
}
