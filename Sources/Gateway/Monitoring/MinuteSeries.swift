public import Wire

/// A metric over time: one datapoint for each minute with samples, the last three hours of them.
public struct MinuteSeries: Sendable, Equatable {
    /// Three hours, as many as CloudWatch keeps at its finest.
    public static let maximumMinutes = 180
    public static let period = Duration.seconds(60)

    public struct Datapoint: Sendable, Equatable {
        /// Minutes since 1970; the datapoint covers the 60 s from there.
        public private(set) var minute: Int32
        public private(set) var sampleCount: Int32 = 1
        public private(set) var sum: Double
        public private(set) var minimum: Float
        public private(set) var maximum: Float

        init(minute: Int32, _ value: Double) {
            (self.minute, sum, minimum, maximum) = (minute, value, Float(value), Float(value))
        }

        public var average: Double { sum / Double(sampleCount) }
        public var start: WallTime { WallTime(secondsSince1970: Int64(minute) * 60) }

        mutating func add(_ value: Double) {
            sampleCount += 1
            sum += value
            (minimum, maximum) = (min(minimum, Float(value)), max(maximum, Float(value)))
        }
    }

    /// Oldest first.
    public private(set) var datapoints: [Datapoint] = []

    public init() {}

    var isEmpty: Bool { datapoints.isEmpty }

    static func minute(of time: WallTime) -> Int32 { Int32(clamping: time.secondsSince1970 / 60) }

    /// Samples of an earlier minute than the last one (the clock was set back) count into the last.
    mutating func add(_ value: Double, at time: WallTime) {
        let minute = Self.minute(of: time)
        guard let last = datapoints.indices.last, datapoints[last].minute >= minute else {
            if datapoints.count >= Self.maximumMinutes { datapoints.removeFirst() }
            return datapoints.append(Datapoint(minute: minute, value))
        }
        datapoints[last].add(value)
    }
}
