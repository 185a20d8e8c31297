import Wire

/// When a loop that is woken very often shall rest between turns, as network cards do with interrupts.
///
/// A wake-up costs as much as ten packets, most of it caches that others have used in between. Below 1,500 turns a second every
/// event is served at once. Above, the loop turns every 2 ms and serves what has gathered; each second it turns freely for
/// 100 ms, to see whether that is still so. Pure: no clock.
struct WakeModeration {
    static let window = Duration.milliseconds(100)
    /// More turns in a free window begin moderation.
    static let maximumFreeTurns = 150
    static let moderatedTime = Duration.milliseconds(900)
    /// From the beginning of a turn to that of the next; the most that moderation adds to anything's latency.
    static let turnInterval = Duration.milliseconds(2)

    private var windowEnd = MonotonicTime.zero
    private var moderatedUntil = MonotonicTime.zero
    private var turns = 0

    /// A turn ended that began at `start`.
    /// - Returns: until when the loop shall rest, timers excepted; nil when it shall not.
    mutating func turnEnded(startedAt start: MonotonicTime) -> MonotonicTime? {
        if start < moderatedUntil { return start + Self.turnInterval }
        if start >= windowEnd { (windowEnd, turns) = (start + Self.window, 0) }
        turns += 1
        guard turns > Self.maximumFreeTurns else { return nil }
        moderatedUntil = start + Self.moderatedTime
        windowEnd = .zero
        return start + Self.turnInterval
    }
}
