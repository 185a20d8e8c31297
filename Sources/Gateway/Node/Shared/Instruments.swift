import EventLoop
import GatewayMetrics
import HTTPServer

/// What every loop of the node is measured by.
struct Instruments: Sendable {
    let metrics = MetricsRegistry()
    let heartbeats = Heartbeats()
    let lag = GreatestLag()

    init() { ProcessMetrics.register(in: metrics, version: Version.current) }

    /// Notices when a loop has stopped turning, and how late it turns, as long as the watches are kept.
    func watch(_ loop: EventLoop, name: String) -> [Watch] {
        [heartbeats.join(loop, name: name), LoopMetrics.watch(loop, name: name, in: metrics, lag: lag)]
    }
}
