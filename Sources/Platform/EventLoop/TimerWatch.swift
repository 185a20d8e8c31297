import Wire

/// A timer of a loop.
public final class TimerWatch: Watch {
    /// Its place in the loop's queue; nil while it is not waiting.
    var position: Int?
    /// When the loop shall wake for it: its deadline with tolerance. Later than its entry in the queue says after it was rearmed.
    private(set) var wakeUp = MonotonicTime.zero
    private var deadline = MonotonicTime.zero
    private let interval: Duration?
    private let tolerance: Duration
    private static let longDelay = Duration.milliseconds(100)
    private static let tick = Duration.milliseconds(5)

    init(loop: EventLoop, repeating interval: Duration?, tolerance: Duration, _ body: @escaping () -> Void) {
        (self.interval, self.tolerance) = (interval, tolerance)
        super.init(loop: loop, body)
    }

    deinit { loop.remove(self) }

    public override func cancel() {
        super.cancel()
        loop.remove(self)
    }

    /// Counts the delay anew from this turn, also when the timer has fired; allocates nothing.
    ///
    /// This is how watchdogs are fed: a later deadline is only noted here, and looked at when the earlier one comes.
    public func rearm(after delay: Duration) {
        loop.assertOnLoop()
        guard isActive else { return }
        start(at: loop.refreshedNow() + delay)
    }

    func start(at deadline: MonotonicTime) {
        self.deadline = deadline
        wakeUp = coalesced(deadline, after: deadline - loop.now)
        loop.insert(self)
    }

    /// The second hands of a thousand sessions shall not wake the loop a thousand times a second (20 µs each, measured): a
    /// long delay ends on the next tick of 5 ms, with all others of that tick, and a tolerant one on the next tick of its
    /// tolerance. Repetitions do not drift by that.
    private func coalesced(_ deadline: MonotonicTime, after delay: Duration) -> MonotonicTime {
        let tick = max(tolerance, delay >= Self.longDelay ? Self.tick : .zero).nanoseconds
        guard tick > 0 else { return deadline }
        return MonotonicTime(nanoseconds: (deadline.nanoseconds + tick - 1) / tick * tick)
    }

    func fire(at now: MonotonicTime) {
        if let interval {
            let next = deadline + interval
            start(at: next > now ? next : now + interval)
        }
        callBody()
    }
}
