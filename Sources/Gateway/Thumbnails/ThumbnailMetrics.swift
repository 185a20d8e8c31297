import GatewayMetrics

/// What becomes of keyframes that a thumbnail was due of.
struct ThumbnailMetrics {
    let made: Counter
    let skipped: Counter
    let failed: Counter

    init(_ registry: MetricsRegistry) {
        func counter(_ result: String) -> Counter {
            registry.counter("stagedoor_thumbnails_total", "Keyframes that a thumbnail was due of.", ["result": result])
        }
        (made, skipped, failed) = (counter("made"), counter("skipped"), counter("failed"))
    }
}
