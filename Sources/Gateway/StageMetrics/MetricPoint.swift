public import Wire

/// The samples of one minute of a series, as CloudWatch keeps them: how many, their sum, the smallest and the largest.
public struct MetricPoint: Codable, Equatable, Sendable {
    /// Minutes since 1970; the point is of the 60 s from there.
    public var minute: Int32
    public var count: Int32
    public var sum: Double
    public var minimum: Double
    public var maximum: Double

    public init(minute: Int32, count: Int32, sum: Double, minimum: Double, maximum: Double) {
        (self.minute, self.count, self.sum, self.minimum, self.maximum) = (minute, count, sum, minimum, maximum)
    }

    public init(minute: Int32, _ value: Double) {
        self.init(minute: minute, count: 1, sum: value, minimum: value, maximum: value)
    }

    public var average: Double { sum / Double(max(1, count)) }
    public var start: WallTime { WallTime(secondsSince1970: Int64(minute) * 60) }

    public static func minute(of time: WallTime) -> Int32 { Int32(clamping: time.secondsSince1970 / 60) }

    public mutating func add(_ value: Double) {
        count += 1
        sum += value
        (minimum, maximum) = (min(minimum, value), max(maximum, value))
    }

    /// Adds what another process, or the same one later, saw of a minute.
    ///
    /// Counts are taken once a second: of two that fill more than a minute together, both saw the same seconds, each with those of
    /// its own; what they counted adds up. Otherwise one went on where the other had ended.
    public mutating func merge(_ other: MetricPoint, isCount: Bool) {
        // A server may answer with any number.
        let (added, overflows) = count.addingReportingOverflow(other.count)
        let together = overflows ? .max : added
        sum += other.sum
        if isCount, together > Self.maximumCountsAMinute {
            count = max(count, other.count)
            (minimum, maximum) = (minimum + other.minimum, maximum + other.maximum)
        } else {
            count = together
            (minimum, maximum) = (min(minimum, other.minimum), max(maximum, other.maximum))
        }
    }

    /// Sixty, and some that a timer which is not quite a second's adds.
    static let maximumCountsAMinute: Int32 = 66
}

/// A point and whose it is.
public struct MetricSample: Codable, Equatable, Sendable {
    public var series: MetricSeries
    public var point: MetricPoint

    public init(_ series: MetricSeries, _ point: MetricPoint) { (self.series, self.point) = (series, point) }
}
