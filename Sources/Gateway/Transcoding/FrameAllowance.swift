import Wire

/// How many frames of one stream are transcoded, however fast its encoder sends them. A value.
///
/// A frame of one byte costs its thread as much as one of sound, for which it stands, and all streams of the thread wait for it.
struct FrameAllowance {
    private var left = maximum
    private var earnedAt: MonotonicTime?

    /// A frame came.
    /// - Returns: false where more have come than there is sound for.
    mutating func take(at now: MonotonicTime) -> Bool {
        let since = earnedAt ?? now
        let earned = (now - since).nanoseconds / Self.interval.nanoseconds
        earnedAt = since + .nanoseconds(earned * Self.interval.nanoseconds)
        left = min(Self.maximum, left + Int(earned))
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// At once: twenty seconds of AAC, which an encoder may have kept while its uplink stood still.
    static let maximum = 1_000
    /// And one more in each: the shortest packets of Opus last for 2.5 ms.
    static let interval = Duration.milliseconds(2)
}
