import EventLoop
import Store
import Wire

/// Takes history from the local queue to the database, a page at a time, and starts again where it was stopped.
struct HistoryFeed {
    /// Writes forwarded before the next request is served.
    static let page = 100

    let forwarder: HistoryForwarder
    let local: EmbeddedStore
    let inbox: StoreInbox
    /// The queue has grown since it was read last.
    var hasNews = false
    /// After a write that the database did not take it is asked again so much later: it may be connected all the same, and without
    /// memory, or without the replicas that it must have.
    static let pause = Duration.seconds(5)

    private var pausedUntil = MonotonicTime.zero
    private var lastRefusal: String?
    private(set) var forwarded = 0
    /// The last that was forwarded, and of which queue: the local file has been told so.
    private var told = (queue: "", through: Int64.min)
    private var isReading = false
    private var waiting: HistoryQueue?

    init(forwarder: HistoryForwarder, local: EmbeddedStore, inbox: StoreInbox) {
        (self.forwarder, self.local, self.inbox) = (forwarder, local, inbox)
    }

    mutating func take(_ result: Result<HistoryQueue, any Error>, at now: MonotonicTime) {
        isReading = false
        waiting = try? result.get()
        // The files are with another process, which forwards what is in them; they may come back.
        if waiting == nil { (hasNews, pausedUntil) = (true, now + Self.pause) }
    }

    /// The database is there again: what it could not take before may go at once.
    mutating func connected() { pausedUntil = .zero }

    /// - Returns: why the database refuses what is at the head of the queue, when it begins to.
    mutating func advance(isConnected: Bool, at now: MonotonicTime) -> String? {
        guard isConnected, now >= pausedUntil else { return nil }
        if let queue = waiting {
            waiting = nil
            if let refusal = forward(queue, at: now) {
                defer { lastRefusal = refusal }
                return refusal == lastRefusal ? nil : refusal
            }
        }
        guard hasNews, !isReading else { return nil }
        (hasNews, isReading) = (false, true)
        let inbox = inbox
        local.readQueue(limit: Self.page) { inbox.send($0) }
        return nil
    }

    private mutating func forward(_ queue: HistoryQueue, at now: MonotonicTime) -> String? {
        var (last, taken, refusal) = (Int64?.none, [ParticipantEvent](), String?.none)
        for queued in queue.writes {
            do {
                let origin = HistoryForwarder.Origin(queue: queue.name, sequence: queued.sequence)
                let events = try forwarder.forward(queued.write, from: origin, now: EventLoop.wallNow())
                if queue.name != told.queue || queued.sequence > told.through { taken += events }
                last = queued.sequence
                forwarded += 1
                lastRefusal = nil
            } catch {
                (hasNews, pausedUntil) = (true, now + Self.pause)
                if case .failed(let reason) = error { refusal = reason }
                break
            }
        }
        if queue.writes.count == Self.page { hasNews = true }
        // What is there still although it was forwarded stands in a file that takes nothing now, as on a full disk.
        if let first = queue.writes.first, queue.name == told.queue, first.sequence <= told.through {
            (hasNews, pausedUntil) = (true, now + Self.pause)
        }
        if let last {
            told = (queue.name, last)
            local.record([.forwarded(through: last, taken: taken)])
        }
        return refusal
    }
}
