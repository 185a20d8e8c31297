import Wire

/// Whether the way to a viewer fills: the trend of the delay of its packets against a threshold that adapts
/// (draft-ietf-rmcat-gcc-02 §4, with the least-squares trend of libwebrtc's later versions in place of the Kalman filter).
struct DelayTrend {
    enum Usage { case normal, over, under }

    private(set) var usage = Usage.normal
    private var delays = LeastDelays()
    private var line = TrendLine()
    /// Milliseconds; what the modified trend is compared with.
    private var threshold = 12.5
    private var deltaCount = 0
    private var overSince: Int64?
    private var formerTrend = 0.0
    private var updated: Int64?

    mutating func observe(_ packet: DeliveredPacket) {
        guard let arrival = packet.arrival, let delta = delays.add(sent: packet.sent.nanoseconds, arrival: arrival) else {
            return
        }
        deltaCount += 1
        let slope = line.add(delay: Self.milliseconds(delta.arrival &- delta.sent), at: Self.milliseconds(arrival))
        let trend = Double(min(deltaCount, 60)) * slope * Self.gain
        judge(trend, slope: slope, at: arrival)
        adapt(to: trend, at: arrival)
        formerTrend = slope
    }

    /// After a silence nothing that came before says anything.
    mutating func restart() { self = DelayTrend() }

    private mutating func judge(_ trend: Double, slope: Double, at arrival: Int64) {
        guard trend > threshold else {
            overSince = nil
            usage = trend < -threshold ? .under : .normal
            return
        }
        let since = overSince ?? arrival
        overSince = since
        // Not for one late packet, and not while it is getting better already.
        if arrival &- since >= Self.patience, slope >= formerTrend { usage = .over }
    }

    /// Follows the trend: fast when it is inside, so that others' queues do not starve us, slowly when it is outside.
    private mutating func adapt(to trend: Double, at arrival: Int64) {
        defer { updated = arrival }
        let distance = abs(trend) - threshold
        guard distance <= 15 else { return }
        let elapsed = min(100, updated.map { Self.milliseconds(arrival &- $0) } ?? 0)
        threshold += (distance < 0 ? 0.039 : 0.0087) * distance * elapsed
        threshold = min(600, max(6, threshold))
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e6 }

    private static let gain = 4.0
    private static let patience: Int64 = 10_000_000
}

/// The least delayed packet of each 30 ms. Pictures go out unpaced, so that the packets of a large one queue behind each other:
/// the last one's delay tells of its size, the least one's of what stood in the way before.
private struct LeastDelays {
    private struct Span {
        var began: Int64
        var sent: Int64
        var arrival: Int64
    }

    private var former: Span?
    private var current: Span?

    /// - Returns: from the least delayed of the span before to that of the last, when this packet begins another.
    mutating func add(sent: Int64, arrival: Int64) -> (sent: Int64, arrival: Int64)? {
        guard var span = current else {
            current = Span(began: sent, sent: sent, arrival: arrival)
            return nil
        }
        guard sent - span.began > Self.length else {
            if arrival &- sent < span.arrival &- span.sent { (span.sent, span.arrival) = (sent, arrival) }
            current = span
            return nil
        }
        let delta = former.map { (span.sent - $0.sent, span.arrival &- $0.arrival) }
        (former, current) = (span, Span(began: sent, sent: sent, arrival: arrival))
        return delta
    }

    private static let length: Int64 = 30_000_000
}

/// The slope of the smoothed, accumulated delay over its last points.
private struct TrendLine {
    private var points: [(time: Double, delay: Double)] = []
    private var accumulated = 0.0
    private var smoothed = 0.0
    private var start: Double?

    /// - Parameters: milliseconds both.
    /// - Returns: milliseconds of delay gained per millisecond; 0 until there are points enough.
    mutating func add(delay: Double, at time: Double) -> Double {
        let start = start ?? time
        self.start = start
        accumulated += delay
        smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
        if points.count == Self.window { points.removeFirst() }
        points.append((time - start, smoothed))
        return points.count == Self.window ? slope : 0
    }

    private var slope: Double {
        let count = Double(points.count)
        let time = points.reduce(0) { $0 + $1.time } / count
        let delay = points.reduce(0) { $0 + $1.delay } / count
        let spread = points.reduce(0) { $0 + ($1.time - time) * ($1.time - time) }
        guard spread > 0 else { return 0 }
        return points.reduce(0) { $0 + ($1.time - time) * ($1.delay - delay) } / spread
    }

    private static let window = 15
    private static let smoothing = 0.8
}
