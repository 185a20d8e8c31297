import Wire

/// When a loop that is woken very often shall rest between turns, as network cards do with interrupts.
///
/// A wake-up costs as much as ten packets, most of it caches that others have used in between. Below 1,500 events a second every
/// one is served at once. Above, the loop turns every 2 ms and serves what has gathered; each second it turns freely for
/// 100 ms, to see whether that is still so. Events count and not turns, of which a machine that is busy with other things makes
/// fewer: 50 RTMP streams with audio bring a worker 1,900 messages a second in 900 turns, and cost half as much in 500. Pure:
/// no clock.
struct WakeModeration {
    static let window = Duration.milliseconds(100)
    /// More events in a free window begin moderation.
    static let maximumFreeEvents = 150
    static let moderatedTime = Duration.milliseconds(900)
    /// From the beginning of a turn to that of the next; the most that moderation adds to anything's latency.
    static let turnInterval = Duration.milliseconds(2)

    private var windowEnd = MonotonicTime.zero
    private var moderatedUntil = MonotonicTime.zero
    private var events = 0

    /// A turn ended that began at `start`.
    /// - Parameter served: descriptors whose readiness it served; a turn of timers alone counts as one event.
    /// - Returns: until when the loop shall rest, timers excepted; nil when it shall not.
    mutating func turnEnded(startedAt start: MonotonicTime, served: Int = 1) -> MonotonicTime? {
        if start < moderatedUntil { return start + Self.turnInterval }
        if start >= windowEnd { (windowEnd, events) = (start + Self.window, 0) }
        events += max(1, served)
        guard events > Self.maximumFreeEvents else { return nil }
        moderatedUntil = start + Self.moderatedTime
        windowEnd = .zero
        return start + Self.turnInterval
    }
}
