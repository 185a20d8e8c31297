public import Wire

/// A clock that moves only when a test says so.
public final class FakeClock {
    public private(set) var now: MonotonicTime

    public init(startingAt now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) { self.now = now }

    @discardableResult
    public func advance(by duration: Duration) -> MonotonicTime {
        now = now + duration
        return now
    }
}
