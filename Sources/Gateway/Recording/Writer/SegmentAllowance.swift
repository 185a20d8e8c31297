import Wire

/// How often the segments of a recording may begin, whatever times and parameter sets its encoder sends. A value.
///
/// Each one is files that are forced to disk, on the thread of all recordings.
struct SegmentAllowance: Equatable {
    private var left = maximum
    private var earnedAt: MonotonicTime?

    /// A segment begins.
    /// - Returns: false where more have begun than any encoder has cause for.
    mutating func take(at now: MonotonicTime) -> Bool {
        let since = earnedAt ?? now
        let earned = (now - since).nanoseconds / Self.interval.nanoseconds
        earnedAt = since + .nanoseconds(earned * Self.interval.nanoseconds)
        left = min(Self.maximum, left + Int(earned))
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// At once: an encoder's whole backlog behind a disk that stalled has ten.
    static let maximum = 30
    /// And one more in each: segments aim at two seconds at least.
    static let interval = Duration.seconds(1)
}
