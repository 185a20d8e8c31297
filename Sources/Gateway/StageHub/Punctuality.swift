import Wire

/// How a track's packets come: whether they do, and since when all of them have been early or late. A value.
///
/// Beside another track's it tells whether the RTP time of this one has moved. A single packet tells nothing: what a busy encoder
/// or a way that was cut has held back is soon followed by what comes in time. So it has to last, and to be this track's alone.
/// A browser's sound whose microphone was away for five seconds, in seconds, while its pictures came in time:
///
///     at 20.00   RTP time 20.00   in time
///     at 25.02   RTP time 20.02   five seconds late, since now
///     at 26.02   RTP time 21.02   late for a second, and the pictures are not: the sound's RTP time has stood still
struct Punctuality {
    private var lastArrival = MonotonicTime.zero
    /// The first packet since which there was no pause.
    private(set) var flowsSince = MonotonicTime.zero
    /// All packets come long before their time.
    private var early = Streak()
    /// When a packet last came half as long before its time.
    private var lastHalfEarly: MonotonicTime?
    /// All packets come long after their time.
    private var late = Streak()
    /// All packets come later than the quickest one of the last minute, by more than a jitter.
    private var slow = Streak()

    /// A packet came.
    /// - Parameters:
    ///   - delay: from its time until it came, nanoseconds; negative where it came before.
    ///   - wait: how much later it came than the quickest one of the last minute, nanoseconds.
    mutating func came(delay: Int64, wait: Int64, at now: MonotonicTime) {
        if !isFlowing(at: now) { flowsSince = now }
        lastArrival = now
        if delay < -Self.largestJitter / 2 { lastHalfEarly = now }
        early.note(delay < -Self.largestJitter, at: now)
        late.note(delay > StampTimeline.largestStepBack, at: now)
        slow.note(wait > Self.largestJitter, at: now)
    }

    func isFlowing(at now: MonotonicTime) -> Bool { now - lastArrival < Self.pause }

    /// Whether the RTP time has jumped ahead, and the other's has not. Where the way has become quicker all tracks are early,
    /// those with the longer encoding less so.
    func hasGoneAhead(beside other: Punctuality, at now: MonotonicTime) -> Bool {
        other.isFlowing(at: now) && !other.wasHalfEarly(at: now) && early.lasts(Self.pause, at: now)
    }

    /// Whether the RTP time has stood still, and the other's has not: it went on where it was after a pause. One that began on a
    /// slow way cannot tell that it is slow, so the other has to come since before this one began to be late.
    func hasStoodStill(beside other: Punctuality, at now: MonotonicTime) -> Bool {
        guard let start = slow.start ?? late.start, other.isFlowing(at: now), other.flowsSince < start else { return false }
        return late.lasts(Self.pause, at: now) && !other.late.holds
            || slow.lasts(Self.longestHold, at: now) && !other.slow.holds
    }

    private func wasHalfEarly(at now: MonotonicTime) -> Bool { lastHalfEarly.map { now - $0 < Self.pause } ?? false }

    /// No way holds one track alone back for so long. Browsers' sound without speech (DTX) has a packet every 0.4 s.
    private static let pause: Duration = .seconds(1)
    /// No encoder holds one track alone back for so long.
    private static let longestHold: Duration = .seconds(2)
    private static let largestJitter: Int64 = 200_000_000
}
