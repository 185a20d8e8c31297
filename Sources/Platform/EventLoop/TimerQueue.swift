import Wire

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
