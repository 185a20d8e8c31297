import Wire

/// When a loop that media wakes very often shall rest between turns, as network cards do with interrupts.
///
/// A wake-up costs as much as ten packets, most of it caches that others have used in between. Up to some 18 streams with audio,
/// which are 1,260 wake-ups a second of their connections, every one is served at once. When there have been more for half a
/// second, the loop rests until so much time has passed since its turn began, and takes what has gathered; each 2 s it turns
/// freely for a tenth of a second at most, to see whether that is still so. Only media counts, because it comes at its own pace:
/// a client that asks, waits for the answer and asks again would be served no cheaper, only later, and slow everybody else. What
/// wakes counts and not turns, of which a machine that is busy with other things makes fewer. Pure: no clock.
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

    /// From the beginning of a turn to that of the next: the most that moderation adds to anything's latency.
    let longestRest: Duration

    private var look = first
    private var lookEnd = MonotonicTime.zero
    private var wakeUps = MediaWakeUps()
    private var moderatedUntil = MonotonicTime.zero

    init(longestRest: Duration) { self.longestRest = longestRest }

    /// A turn ended that began at `start`.
    /// - Parameter media: what of media was ready in it.
    /// - Returns: until when the loop shall rest, timers excepted; nil when it shall not.
    mutating func turnEnded(startedAt start: MonotonicTime, media: MediaWakeUps) -> MonotonicTime? {
        if start < moderatedUntil { return start + longestRest }
        if start >= lookEnd { begin(Self.first, at: start) }
        wakeUps += media
        guard wakeUps.weight > look.maximumWeight else { return nil }
        moderatedUntil = start + Self.moderatedTime
        begin(Self.again, at: moderatedUntil)
        return start + longestRest
    }

    private mutating func begin(_ look: Look, at start: MonotonicTime) {
        (self.look, lookEnd, wakeUps) = (look, start + look.duration, MediaWakeUps())
    }
}

/// Descriptors of media that were ready.
struct MediaWakeUps {
    /// A burst of datagrams wakes while it is still coming in: a stream over datagrams wakes some 105 times a second, where one
    /// over a connection does 70. A loop shall rest with as many streams of either.
    static let (connectionWeight, sharedWeight) = (3, 2)

    private(set) var weight = 0

    /// - Parameter isShared: whether streams share it, as a socket of datagrams or a mailbox; a connection has one stream.
    mutating func count(isShared: Bool) { weight += isShared ? Self.sharedWeight : Self.connectionWeight }

    static func += (sum: inout MediaWakeUps, other: MediaWakeUps) { sum.weight += other.weight }
}
