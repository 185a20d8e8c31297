import Wire

/// At most 200 packets a second and worker are tried on tuples of which nothing genuine is known (docs/design.md 4.4).
struct RebindingBudget {
    private var windowStart: MonotonicTime = .zero
    private var count = 0

    mutating func allows(_ now: MonotonicTime) -> Bool {
        if now - windowStart >= .seconds(1) { (windowStart, count) = (now, 0) }
        count += 1
        return count <= Self.maximumPerSecond
    }

    static let maximumPerSecond = 200
}
