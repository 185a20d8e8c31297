public import RTP

extension TrackID {
    /// RTP ticks a second.
    @inlinable public var clockRate: Int64 { kind == .video ? ClockRate.video : ClockRate.audio }

    /// Split so that no product overflows: unwrapped timestamps of hostile publishers may be large.
    func nanoseconds(ofTimestamp timestamp: Int64) -> Int64 {
        let (seconds, ticks) = timestamp.quotientAndRemainder(dividingBy: clockRate)
        return seconds &* 1_000_000_000 &+ ticks * 1_000_000_000 / clockRate
    }

    /// The nearest tick; rounding to the nearest makes ticks survive the way there and back.
    func timestamp(ofNanoseconds nanoseconds: Int64) -> Int64 {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let half: Int64 = rest < 0 ? -500_000_000 : 500_000_000
        return seconds * clockRate + (rest * clockRate + half) / 1_000_000_000
    }
}
