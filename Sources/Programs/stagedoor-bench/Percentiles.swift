/// Durations gathered one by one, told as percentiles in milliseconds.
struct Percentiles: Sendable {
    struct Summary: Encodable {
        var count = 0
        var p50 = 0.0
        var p99 = 0.0
        var maximum = 0.0
    }

    /// 64 MB at most; what comes later only counts.
    static let maximumSamples = 8_000_000

    private var nanoseconds: [Int64] = []
    private(set) var count = 0

    mutating func add(nanoseconds value: Int64) {
        count += 1
        if nanoseconds.count < Self.maximumSamples { nanoseconds.append(value) }
    }

    mutating func merge(_ other: Percentiles) {
        count += other.count
        nanoseconds += other.nanoseconds
    }

    var summary: Summary {
        guard !nanoseconds.isEmpty else { return Summary() }
        let sorted = nanoseconds.sorted()
        func milliseconds(_ share: Double) -> Double {
            (Double(sorted[Int(Double(sorted.count - 1) * share)]) / 1_000).rounded() / 1_000
        }
        return Summary(count: count, p50: milliseconds(0.5), p99: milliseconds(0.99), maximum: milliseconds(1))
    }
}
