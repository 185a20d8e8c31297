import EventLoop
import GatewayMetrics
import HTTPServer

/// What every loop of the node is measured by.
struct Instruments: Sendable {
    let metrics = MetricsRegistry()
    let loops = LoopHealth()
    let lag = GreatestLag()

    init() { ProcessMetrics.register(in: metrics, version: Version.current) }

    /// Notices when a loop is stuck, and how late it turns as long as what this returns is kept.
    func watch(_ loop: EventLoop, name: String) -> LoopMetrics {
        loops.join(loop, name: name)
        return LoopMetrics(loop, name: name, in: metrics, lag: lag)
    }
}
