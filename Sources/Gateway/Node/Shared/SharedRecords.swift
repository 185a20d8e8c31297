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
