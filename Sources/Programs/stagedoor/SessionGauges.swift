import Admission
import GatewayMetrics

/// Live publishes by the protocol they came in by.
struct SessionGauges: Sendable {
    private let rtmp: Gauge
    private let rtmps: Gauge
    private let whip: Gauge

    init(_ metrics: MetricsRegistry) {
        func gauge(_ ingest: IngestProtocol) -> Gauge {
            metrics.gauge("stagedoor_sessions", "Live publishes.", ["protocol": ingest.rawValue.lowercased()])
        }
        (rtmp, rtmps, whip) = (gauge(.rtmp), gauge(.rtmps), gauge(.whip))
    }

    subscript(_ ingest: IngestProtocol) -> Gauge {
        switch ingest {
        case .rtmp: rtmp
        case .rtmps: rtmps
        case .whip: whip
        }
    }
}
