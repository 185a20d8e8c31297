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

    /// The body is not called any more, whatever was due.
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

/// The timers of one loop as a binary heap, first deadline on top. It does not keep its timers alive: they leave it in `deinit`.
@safe
struct TimerQueue {
    private struct Entry {
        /// Never later than the timer's own moment.
        var deadline: MonotonicTime
        /// Timers of one deadline fire in the order in which they were started.
        var order: UInt64
        unowned(unsafe) var timer: TimerWatch

        func isBefore(_ other: Entry) -> Bool { deadline != other.deadline ? deadline < other.deadline : order < other.order }
    }

    private var entries: [Entry] = []
    private var started: UInt64 = 0

    var count: Int { entries.count }
    var firstDeadline: MonotonicTime? { entries.first?.deadline }

    /// Puts the timer where its deadline belongs. One that is queued for an earlier moment stays there until that comes.
    mutating func insert(_ timer: TimerWatch) {
        if let position = timer.position {
            if entries[position].deadline <= timer.wakeUp { return }
            remove(timer)
        }
        started += 1
        entries.append(Entry(deadline: timer.wakeUp, order: started, timer: timer))
        siftUp(from: entries.count - 1)
    }

    mutating func remove(_ timer: TimerWatch) {
        guard let position = timer.position else { return }
        timer.position = nil
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        siftUp(from: position)
        siftDown(from: unsafe last.timer.position ?? position)
    }

    /// Takes the first timer that is due before `now`; those that were rearmed for later go back to where they belong.
    mutating func popFirst(before now: MonotonicTime) -> TimerWatch? {
        while let first = entries.first, first.deadline < now {
            let timer = unsafe first.timer
            if timer.wakeUp < now {
                remove(timer)
                return timer
            }
            entries[0].deadline = timer.wakeUp
            siftDown(from: 0)
        }
        return nil
    }

    private mutating func siftUp(from start: Int) {
        var position = start
        let entry = entries[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard entry.isBefore(entries[parent]) else { break }
            place(entries[parent], at: position)
            position = parent
        }
        place(entry, at: position)
    }

    private mutating func siftDown(from start: Int) {
        var position = start
        let entry = entries[position]
        while true {
            var child = 2 * position + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(entry) else { break }
            place(entries[child], at: position)
            position = child
        }
        place(entry, at: position)
    }

    private mutating func place(_ entry: Entry, at position: Int) {
        entries[position] = entry
        unsafe entry.timer.position = position
    }
}
