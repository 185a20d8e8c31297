import Wire

/// At most 200 packets a second and worker are tried without a validated tuple (design note 17).
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
