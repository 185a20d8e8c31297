import EventLoop
import Store

/// Takes history from the local queue to the database, a page at a time, and starts again where it was stopped.
struct HistoryFeed {
    /// Writes forwarded before the next request is served.
    static let page = 100

    let forwarder: HistoryForwarder
    let local: EmbeddedStore
    let door: StoreDoor
    /// The queue has grown since it was read last.
    var hasNews = false
    /// The database refused a write, which is tried again once it is back.
    var isStalled = false
    private(set) var forwarded = 0
    private var isReading = false
    private var waiting: PlatformQueue?

    init(forwarder: HistoryForwarder, local: EmbeddedStore, door: StoreDoor) {
        (self.forwarder, self.local, self.door) = (forwarder, local, door)
    }

    mutating func take(_ result: Result<PlatformQueue, any Error>) {
        isReading = false
        // Closed, or with another process: who asks next is that process, or nobody.
        waiting = try? result.get()
    }

    /// - Returns: why the database refuses what is at the head of the queue, the first time that it does.
    mutating func advance(isConnected: Bool) -> String? {
        var refusal: String?
        if isConnected, !isStalled, let queue = waiting {
            waiting = nil
            refusal = forward(queue)
        }
        guard waiting == nil, hasNews, isConnected, !isStalled, !isReading else { return refusal }
        (hasNews, isReading) = (false, true)
        let door = door
        local.readQueue(limit: Self.page) { door.send($0) }
        return refusal
    }

    private mutating func forward(_ queue: PlatformQueue) -> String? {
        var (last, closing, refusal) = (Int64?.none, [ParticipantEvent](), String?.none)
        for queued in queue.writes {
            do {
                let origin = HistoryForwarder.Origin(queue: queue.name, sequence: queued.sequence)
                closing += try forwarder.forward(queued.write, from: origin, now: EventLoop.wallNow())
                last = queued.sequence
                forwarded += 1
            } catch {
                hasNews = true
                if case .failed(let reason) = error { (isStalled, refusal) = (true, reason) }
                break
            }
        }
        if queue.writes.count == Self.page { hasNews = true }
        if let last { local.record([.forwarded(through: last, closing: closing)]) }
        return refusal
    }
}
