import Wire

/// When the kernel's timer wakes a loop for the first of its timers. Pure: the loop sets the kernel's timer to what it is told.
///
/// It is told as seldom as can be, because each time is a system call: a timer that was cancelled or rearmed for later costs one
/// wake-up instead, one that is due already needs no timer of the kernel, which would cost ten times as much, and those that are
/// started while others are served are armed together.
struct TimerAlarm {
    enum Setting: Equatable {
        case at(MonotonicTime)
        case off
    }

    /// A timer is due that the kernel's does not know of: the next turn does not wait.
    private(set) var isDue = false
    /// The moment the kernel's timer will wake us; nil when it need not.
    private var wakeUp: MonotonicTime?
    private var isServing = false

    /// A timer was started, or rearmed.
    /// - Parameter first: the first deadline of all.
    /// - Returns: what to set the kernel's timer to; nil where it stays as it is.
    mutating func timerStarted(first: MonotonicTime?, at now: MonotonicTime) -> Setting? {
        guard !isServing, let first else { return nil }
        return arm(for: first, at: now)
    }

    /// Whether the next turn, which begins, does not wait.
    mutating func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// What is due is served until `servingEnds`.
    mutating func servingBegins() { (wakeUp, isServing) = (nil, true) }

    /// - Returns: as `timerStarted` does.
    mutating func servingEnds(first: MonotonicTime?, at now: MonotonicTime) -> Setting? {
        isServing = false
        // Nothing more to wait for: the kernel's timer must not stay readable.
        guard let first else { return .off }
        return arm(for: first, at: now)
    }

    private mutating func arm(for first: MonotonicTime, at now: MonotonicTime) -> Setting? {
        if let wakeUp, wakeUp <= first { return nil }
        (wakeUp, isDue) = (first, first <= now)
        return isDue ? nil : .at(first)
    }
}
