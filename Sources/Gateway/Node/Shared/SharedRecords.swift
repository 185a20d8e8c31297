import Admission
import EmbeddedRouter
import GatewayMetrics
import Monitoring

/// Who publishes, by what is asked: for every thread.
struct SharedRecords: Sendable {
    /// Who publishes, who did, who was refused: for the console, the API and the log.
    let board: SessionBoard
    /// Who is live on which stage, for those who watch.
    let stages = StageBoard()
    let gauges: SessionGauges

    init(_ metrics: MetricsRegistry) { (board, gauges) = (SessionBoard(metrics: metrics), SessionGauges(metrics)) }
}

/// Sessions by the protocol they came in by: live publishes, and WHIP sessions on their way to one.
struct SessionGauges: Sendable {
    private let rtmp: Gauge
    private let rtmps: Gauge
    private let whip: Gauge

    init(_ metrics: MetricsRegistry) {
        func gauge(_ ingest: IngestProtocol) -> Gauge {
            metrics.gauge(Self.name, Self.help, ["protocol": ingest.rawValue.lowercased(), "state": "live"])
        }
        (rtmp, rtmps, whip) = (gauge(.rtmp), gauge(.rtmps), gauge(.whip))
    }

    /// - Parameter count: WHIP sessions that are answered and that no worker has claimed yet.
    static func watchPending(_ metrics: MetricsRegistry, _ count: @escaping @Sendable () -> Int) {
        metrics.reading(name, help, ["protocol": "whip", "state": "pending"]) { Double(count()) }
    }

    private static let name = "stagedoor_sessions"
    private static let help = "Live publishes, and WHIP sessions that are not yet connected."

    subscript(_ ingest: IngestProtocol) -> Gauge {
        switch ingest {
        case .rtmp: rtmp
        case .rtmps: rtmps
        case .whip: whip
        }
    }
}
