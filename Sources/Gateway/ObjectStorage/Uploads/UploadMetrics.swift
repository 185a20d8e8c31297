public import GatewayMetrics

/// What uploads are measured by.
public struct UploadMetrics: Sendable {
    private let stored: Counter
    private let failed: Counter
    private let waiting: Gauge

    public init(_ metrics: MetricsRegistry) {
        let help = "Objects of recordings that a bucket has, and those that it refused or did not take in a day."
        stored = metrics.counter("stagedoor_uploads_total", help, ["result": "stored"])
        failed = metrics.counter("stagedoor_uploads_total", help, ["result": "failed"])
        waiting = metrics.gauge("stagedoor_uploads_waiting", "Objects that wait for their buckets.")
    }

    func began() { waiting.increment() }

    func ended(_ result: UploadResult) {
        waiting.decrement()
        switch result {
        case .stored: stored.increment()
        case .failed: failed.increment()
        case .interrupted: break
        }
    }
}
