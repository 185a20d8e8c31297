import GatewayMetrics

/// What operators see of recordings.
struct RecordingMetrics {
    let seconds: Counter
    let bytes: Counter
    let failures: Counter
    let overruns: Counter
    let spool: Gauge
    let spoolLimit: Gauge
    let lag: Gauge

    init(_ registry: MetricsRegistry) {
        seconds = registry.counter("stagedoor_recorded_seconds_total", "Seconds of recordings that are stored.")
        bytes = registry.counter("stagedoor_recorded_bytes_total", "Bytes of media written into the spool of recordings.")
        failures = registry.counter("stagedoor_recording_failures_total", "Recordings that ended before their publish did.")
        spool = registry.gauge("stagedoor_recording_spool_bytes", "Of recordings in the spool: what their buckets have not yet.")
        spoolLimit = registry.gauge("stagedoor_recording_spool_limit_bytes", "What may lie there (recording.spool).")
        lag = registry.gauge(
            "stagedoor_upload_lag_seconds", "How long the oldest segment that its bucket has not has waited for it.")
        overruns = registry.counter(
            "stagedoor_recording_overruns_total", "Times that a recording lost media because the disk did not keep up.")
    }
}
