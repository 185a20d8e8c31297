public import Wire

/// The samples of the minute that goes on. A value: whoever samples says what time it is, and keeps what is over.
public struct MetricCollector {
    /// Series of one minute, at most; further ones are left out.
    static let maximumSeries = 16_384

    /// The minute so far.
    public private(set) var open: [MetricSeries: MetricPoint] = [:]
    private var minute: Int32 = 0
    /// Its second, as counts keep it.
    private var second: UInt64 = 0

    public init() {}

    /// The time of the samples that come next.
    /// - Returns: what another minute had; empty while that goes on.
    public mutating func turn(to time: WallTime) -> [MetricSample] {
        let minute = MetricPoint.minute(of: time)
        second = 1 << UInt64(max(0, time.secondsSince1970) % 60)
        guard minute != self.minute else { return [] }
        defer { self.minute = minute }
        return takeAll()
    }

    /// What the minute had so far; what comes of it later is a point of its own, to be added.
    public mutating func takeAll() -> [MetricSample] {
        let samples = open.map { MetricSample($0.key, $0.value) }
        open.removeAll(keepingCapacity: true)
        return samples
    }

    public mutating func add(_ value: Double, to series: MetricSeries) {
        let second = series.metric.isCount ? second : 0
        if open[series]?.add(value, in: second) == nil, open.count < Self.maximumSeries {
            open[series] = MetricPoint(minute: minute, value, in: second)
        }
    }
}
