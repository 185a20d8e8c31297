import GatewayMetrics

/// One worker's share of what goes to one router: the two counters that every run touches. An object, shared by the legs.
final class RouterTraffic {
    private let packets: Counter
    private let bytes: Counter

    init(_ series: RouterMetrics.RouterSeries) { (packets, bytes) = (series.packets.shard(), series.bytes.shard()) }

    /// Counts what a leg hands to its queue.
    func count(_ batch: WireBatch) {
        packets.increment(by: batch.count)
        bytes.increment(by: batch.byteCount)
    }
}
