import Wire

/// A timer of a loop.
public final class TimerWatch: Watch {
    /// Its place in the loop's queue; nil while it is not waiting.
    var position: Int?
    /// When it is due; later than its entry in the queue says after it was rearmed.
    private(set) var deadline = MonotonicTime.zero
    private let interval: Duration?

    init(loop: EventLoop, repeating interval: Duration?, _ body: @escaping () -> Void) {
        self.interval = interval
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
        loop.insert(self)
    }

    func fire(at now: MonotonicTime) {
        if let interval {
            let next = deadline + interval
            start(at: next > now ? next : now + interval)
        }
        callBody()
    }
}
