import Wire

/// When a better layer may be taken: at once as long as the last one has held, not within ten seconds of one that was left, and
/// after one that did not hold later each time. A value.
struct RisePatience {
    private var lastRise: MonotonicTime?
    private var lastFall: MonotonicTime?
    private var isOnTrial = false
    private var interval = usualInterval

    func mayRise(at now: MonotonicTime) -> Bool {
        guard let lastFall else { return true }
        if let lastRise {
            // On the way up again, step by step.
            if lastRise > lastFall { return true }
            if now - lastRise < interval { return false }
        }
        return now - lastFall >= Self.settling
    }

    mutating func rose(at now: MonotonicTime) { (lastRise, isOnTrial) = (now, true) }

    mutating func fell(at now: MonotonicTime) {
        lastFall = now
        guard let lastRise, isOnTrial else { return }
        // What falls further, falls for the same reason.
        isOnTrial = false
        interval = now - lastRise > Self.trial ? Self.usualInterval : min(interval * 2, Self.longestInterval)
    }

    private static let usualInterval: Duration = .seconds(10)
    private static let longestInterval: Duration = .seconds(80)
    /// A layer that was left within it has been a try that failed.
    private static let trial: Duration = .seconds(15)
    /// After a fall queues empty and the estimate finds its place.
    private static let settling: Duration = .seconds(5)
}
