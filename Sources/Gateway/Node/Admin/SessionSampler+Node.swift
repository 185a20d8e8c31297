import EmbeddedRouter
import EventLoop
import GatewayMetrics
import Monitoring
import StageMetrics
import Store

/// Samples are taken until the node ends; what the last minute had is kept then.
extension SessionSampler: NodeService {
    /// One that sees the viewers of the embedded router, and whose minutes go to the store.
    convenience init(
        loop: EventLoop, board: SessionBoard, metrics: MetricsRegistry, embedded: EmbeddedRouterContext?,
        store: any GatewayStore
    ) {
        self.init(
            loop: loop, board: board, metrics: metrics,
            viewers: { embedded?.registry.all.map(ViewerSample.init) ?? [] },
            keep: { store.record(MetricSample.writes($0)) })
    }
}

extension ViewerSample {
    fileprivate init(_ statistics: SubscriberStatistics) {
        self.init(
            stageID: statistics.stageID, participantID: statistics.subscriberID,
            videoBitsPerSecond: statistics.videoBitsPerSecond, soundBitsPerSecond: statistics.soundBitsPerSecond,
            lossRatio: statistics.lossRatio)
    }
}
