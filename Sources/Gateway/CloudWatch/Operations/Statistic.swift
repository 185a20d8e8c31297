import StageMetrics
import Wire

/// What is made of the samples of a period.
enum Statistic: String, CaseIterable, Sendable {
    case sampleCount = "SampleCount"
    case average = "Average"
    case sum = "Sum"
    case minimum = "Minimum"
    case maximum = "Maximum"

    /// What CloudWatch knows beside: percentiles, trimmed means and the like, which need every sample.
    /// `p95`, `TM(10%:90%)`, `IQM`.
    static func isExtended(_ name: String) -> Bool {
        name == "IQM" || name.wholeMatch(of: /(?i)(p|tm|wm|tc|ts)\d{1,2}(\.\d+)?|p100/) != nil
            || name.wholeMatch(of: /(?i)(TM|WM|PR|TC|TS)\([0-9.%:]*\)/) != nil
    }

    func value(of point: MetricPoint) -> Double {
        switch self {
        case .sampleCount: Double(point.count)
        case .average: point.average
        case .sum: point.sum
        case .minimum: point.minimum
        case .maximum: point.maximum
        }
    }
}

/// A span of time in periods.
struct MetricSpan: Equatable {
    let start: WallTime
    let end: WallTime
    /// Minutes.
    let period: Int32

    /// - Parameter period: as it was sent, seconds. Those of a part of a minute are taken as the minute that is kept.
    init(start: WallTime, end: WallTime, period: Int) throws(CloudWatchError) {
        guard start < end else {
            throw .invalid("The parameter StartTime must be less than the parameter EndTime.")
        }
        guard [1, 5, 10, 20, 30].contains(period) || period >= 60 && period % 60 == 0 && period <= 86_400 else {
            throw .invalid("The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60, of at most a day.")
        }
        (self.start, self.end, self.period) = (start, end, Int32(max(1, period / 60)))
    }

    init(_ input: CloudWatchValue, period: Int) throws(CloudWatchError) {
        try self.init(start: input.time("StartTime"), end: input.time("EndTime"), period: period)
    }

    /// From the beginning of the period that the start is in to the last minute that begins before the end, as far as it is kept.
    func minutes(now: WallTime) -> Range<Int32> {
        let oldest = MetricPoint.minute(of: now) - MetricRetention.minutes
        let first = MetricPoint.minute(of: start) / period * period
        let last = MetricPoint.minute(of: end) + (end.nanosecondsSince1970 % 60_000_000_000 > 0 ? 1 : 0)
        let lower = max(first, oldest)
        return lower..<max(lower, min(last, MetricPoint.minute(of: now) + 1))
    }

    /// Points of the span's periods, oldest first, from those of minutes.
    func points(_ minutes: [MetricPoint]) -> [MetricPoint] {
        minutes.reduce(into: []) { points, point in
            let beginning = point.minute / period * period
            if let last = points.indices.last, points[last].minute == beginning {
                points[last].append(point)
            } else {
                points.append(point)
                points[points.count - 1].minute = beginning
            }
        }
    }
}

extension MetricPoint {
    /// Takes in a later minute.
    fileprivate mutating func append(_ other: MetricPoint) {
        // A server or a file may say any number.
        let (together, overflows) = count.addingReportingOverflow(other.count)
        count = overflows ? .max : together
        sum += other.sum
        (minimum, maximum) = (min(minimum, other.minimum), max(maximum, other.maximum))
    }
}
