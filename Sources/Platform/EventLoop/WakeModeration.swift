import Wire

/// When a loop that media wakes very often shall rest between turns, as network cards do with interrupts.
///
/// A wake-up costs as much as ten packets, most of it caches that others have used in between. Up to some 18 streams with audio,
/// which are 1,260 wake-ups a second of their connections, every one is served at once. When there have been more for half a
/// second, the loop turns when some eight have gathered, every 2 to 4 ms, or as often as the longest rest wants it; each 2 s it
/// turns freely for a tenth of a second at most, to see whether that is still so. Only media counts, because it comes at its own
/// pace: a client that asks, waits for the answer and asks again would be served no cheaper, only later, and slow everybody
/// else. What wakes counts and not turns, of which a machine that is busy with other things makes fewer. Pure: no clock.
struct WakeModeration {
    /// How long the loop turns freely, at most, to see whether it is woken too often.
    private struct Look {
        var duration: Duration
        /// More than that in that time begins moderation, at once.
        var maximumWeight: Int
    }

    private static let first = Look(duration: .milliseconds(500), maximumWeight: 630 * MediaWakeUps.connectionWeight)
    /// Shorter and milder, so that a rate that wavers does not switch; little milder, because 14 streams need no rest.
    private static let again = Look(duration: .milliseconds(100), maximumWeight: 105 * MediaWakeUps.connectionWeight)
    static let moderatedTime = Duration.seconds(2)
    /// What a moderated turn shall find ready, as far as `turnIntervals` allow.
    static let gatheredWakeUps = 8
    /// Unless less is allowed.
    private static let shortestRest = Duration.milliseconds(2)
    /// From the beginning of a turn to that of the next; the longest is the most that moderation adds to anything's latency.
    private let turnIntervals: ClosedRange<Duration>

    private var look = first
    private var lookStart = MonotonicTime.zero
    private var lookEnd = MonotonicTime.zero
    private var wakeUps = MediaWakeUps()
    private var moderatedUntil = MonotonicTime.zero
    private var turnInterval: Duration

    init(longestRest: Duration) {
        turnIntervals = min(Self.shortestRest, longestRest)...longestRest
        turnInterval = turnIntervals.lowerBound
    }

    var longestRest: Duration { turnIntervals.upperBound }

    /// A turn ended that began at `start`.
    /// - Parameter media: what of media was ready in it.
    /// - Returns: until when the loop shall rest, timers excepted; nil when it shall not.
    mutating func turnEnded(startedAt start: MonotonicTime, media: MediaWakeUps) -> MonotonicTime? {
        if start < moderatedUntil { return start + turnInterval }
        if start >= lookEnd { begin(Self.first, at: start) }
        wakeUps += media
        guard wakeUps.weight > look.maximumWeight else { return nil }
        turnInterval = turnInterval(wakeUps: wakeUps.count, in: start - lookStart)
        moderatedUntil = start + Self.moderatedTime
        begin(Self.again, at: moderatedUntil)
        return start + turnInterval
    }

    private mutating func begin(_ look: Look, at start: MonotonicTime) {
        (self.look, wakeUps) = (look, MediaWakeUps())
        (lookStart, lookEnd) = (start, start + look.duration)
    }

    private func turnInterval(wakeUps: Int, in time: Duration) -> Duration {
        min(max(time * Self.gatheredWakeUps / wakeUps, turnIntervals.lowerBound), turnIntervals.upperBound)
    }
}

/// Descriptors of media that were ready.
struct MediaWakeUps {
    /// A burst of datagrams wakes while it is still coming in: a stream over datagrams wakes some 105 times a second, where one
    /// over a connection does 70. A loop shall rest with as many streams of either.
    static let (connectionWeight, sharedWeight) = (3, 2)

    /// Connections, which have one stream each.
    private var connections = 0
    /// Sockets of datagrams and mailboxes, which streams share.
    private var shared = 0

    var count: Int { connections + shared }
    var weight: Int { connections * Self.connectionWeight + shared * Self.sharedWeight }

    mutating func count(isShared: Bool) { if isShared { shared += 1 } else { connections += 1 } }

    static func += (sum: inout MediaWakeUps, other: MediaWakeUps) {
        sum.connections += other.connections
        sum.shared += other.shared
    }
}
