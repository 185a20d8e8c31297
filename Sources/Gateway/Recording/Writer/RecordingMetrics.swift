import GatewayMetrics

/// What operators see of recordings.
struct RecordingMetrics {
    let seconds: Counter
    let bytes: Counter
    let failures: Counter
    let overruns: Counter

    init(_ registry: MetricsRegistry) {
        seconds = registry.counter("stagedoor_recorded_seconds_total", "Seconds of recordings that are stored.")
        bytes = registry.counter("stagedoor_recorded_bytes_total", "Bytes of media written into the spool of recordings.")
        failures = registry.counter("stagedoor_recording_failures_total", "Recordings that ended before their publish did.")
        overruns = registry.counter(
            "stagedoor_recording_overruns_total", "Times that a recording lost media because the disk did not keep up.")
    }
}
