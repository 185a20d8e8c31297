public import Wire

/// The samples of one minute of a series, as CloudWatch keeps them: how many, their sum, the smallest and the largest.
public struct MetricPoint: Codable, Equatable, Sendable {
    /// Minutes since 1970; the point is of the 60 s from there.
    public var minute: Int32
    public var count: Int32
    public var sum: Double
    public var minimum: Double
    public var maximum: Double
    /// The seconds of its minute in which a count was taken, a bit for each; 0 where nobody knows, as of what is kept in files.
    public var seconds: UInt64 {
        get { knownSeconds ?? 0 }
        set { knownSeconds = newValue == 0 ? nil : newValue }
    }
    /// Nil for none: a version that knew no seconds may have written it, or is there to read it.
    private var knownSeconds: UInt64?

    private enum CodingKeys: String, CodingKey {
        case minute, count, sum, minimum, maximum
        case knownSeconds = "seconds"
    }

    public init(minute: Int32, count: Int32, sum: Double, minimum: Double, maximum: Double, seconds: UInt64 = 0) {
        (self.minute, self.count, self.sum, self.minimum, self.maximum) = (minute, count, sum, minimum, maximum)
        self.seconds = seconds
    }

    public init(minute: Int32, _ value: Double, in seconds: UInt64 = 0) {
        self.init(minute: minute, count: 1, sum: value, minimum: value, maximum: value, seconds: seconds)
    }

    public var average: Double { sum / Double(max(1, count)) }
    public var start: WallTime { WallTime(secondsSince1970: Int64(minute) * 60) }

    public static func minute(of time: WallTime) -> Int32 { Int32(clamping: time.secondsSince1970 / 60) }

    public mutating func add(_ value: Double, in second: UInt64 = 0) {
        count += 1
        sum += value
        (minimum, maximum) = (min(minimum, value), max(maximum, value))
        seconds |= second
    }
}

extension MetricPoint {
    /// Adds what another process, or the same one later, saw of a minute.
    ///
    /// Counts are taken once a second. Of two that were taken in the same seconds, each with those of its own, what they counted
    /// adds up; otherwise one went on where the other had ended.
    public mutating func merge(_ other: MetricPoint, isCount: Bool) {
        // A server may answer with any number.
        let (added, overflows) = count.addingReportingOverflow(other.count)
        let together = overflows ? .max : added
        if isCount, isBeside(other, together) {
            count = max(count, other.count, Int32((seconds | other.seconds).nonzeroBitCount))
            (minimum, maximum) = (least(beside: other), maximum + other.maximum)
        } else {
            count = together
            (minimum, maximum) = (min(minimum, other.minimum), max(maximum, other.maximum))
        }
        sum += other.sum
        seconds = knowsSeconds(with: other) ? seconds | other.seconds : 0
    }

    private func knowsSeconds(with other: MetricPoint) -> Bool { seconds != 0 && other.seconds != 0 }

    /// Without their seconds two that fill more than a minute together are beside each other.
    private func isBeside(_ other: MetricPoint, _ together: Int32) -> Bool {
        guard knowsSeconds(with: other) else { return together > Self.maximumCountsAMinute }
        return (seconds & other.seconds).nonzeroBitCount > Self.jitter
    }

    /// In seconds of which only one of them tells, the other counted none.
    private func least(beside other: MetricPoint) -> Double {
        guard knowsSeconds(with: other) else { return minimum + other.minimum }
        var least = minimum + other.minimum
        if (seconds & ~other.seconds).nonzeroBitCount > Self.jitter { least = min(least, minimum) }
        if (other.seconds & ~seconds).nonzeroBitCount > Self.jitter { least = min(least, other.minimum) }
        return least
    }

    /// Sixty, and some that a timer which is not quite a second's adds.
    static let maximumCountsAMinute: Int32 = 66
    /// Seconds that a timer takes twice or leaves out, in a minute.
    private static let jitter = 3
}

/// A point and whose it is.
public struct MetricSample: Codable, Equatable, Sendable {
    public var series: MetricSeries
    public var point: MetricPoint

    public init(_ series: MetricSeries, _ point: MetricPoint) { (self.series, self.point) = (series, point) }
}
