public import EventLoop
public import HTTP
import JSON
public import Store
import Wire

/// Gives the events of all stages to the readers of `GET /v1/events`, from where each of them left off. Confined to its loop.
public final class EventStreamHub {
    public static let maximumSubscribers = 64
    static let pageLength = 500
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(8)

    private final class Subscriber {
        var sequence: Int64
        /// Whether its place is one of this history: that of another one may lie ahead of all that will happen here.
        var isPlaced = false
        var isReading = false
        /// Whether something happened while a read was under way, or the reader had not taken what came before.
        var hasNews = false
        let takesMore: () -> Bool
        let send: (ServerSentEvent) -> Void

        init(sequence: Int64, takesMore: @escaping () -> Bool, send: @escaping (ServerSentEvent) -> Void) {
            (self.sequence, self.takesMore, self.send) = (sequence, takesMore, send)
        }
    }

    /// One reader's place; dropping it ends the reading.
    public final class Subscription {
        private let takeMore: () -> Void
        private let cancel: () -> Void

        init(takeMore: @escaping () -> Void, cancel: @escaping () -> Void) {
            (self.takeMore, self.cancel) = (takeMore, cancel)
        }

        deinit { cancel() }

        /// The reader has taken what it was sent.
        public func goOn() { takeMore() }
    }

    private let loop: EventLoop
    private let client: StoreClient
    private var subscribers: [ObjectIdentifier: Subscriber] = [:]
    /// Asks again for all while the store is away: the next event may be hours off.
    private var retry: TimerWatch?
    private var pause = firstPause

    /// - Throws: when the system gives no more descriptors.
    public init(loop: EventLoop, store: any GatewayStore) throws(SystemError) {
        self.loop = loop
        client = try StoreClient(loop: loop, store: store)
    }

    /// Begins with the event after `lastEventID`, or with the next one that happens.
    ///
    /// - Parameters:
    ///   - lastEventID: the `Last-Event-ID` that the reader sent, if any; what no event here can have had counts as none.
    ///   - takesMore: whether the reader has taken what it was sent. One that has not is told no further before `goOn`: who comes
    ///     back after long misses more than may pile up for it.
    /// - Returns: nil when there are too many readers.
    public func subscribe(
        lastEventID: String?, takesMore: @escaping () -> Bool = { true }, send: @escaping (ServerSentEvent) -> Void
    ) -> Subscription? {
        guard subscribers.count < Self.maximumSubscribers else { return nil }
        let place = lastEventID.flatMap { Int64($0) } ?? -1
        let subscriber = Subscriber(sequence: place, takesMore: takesMore, send: send)
        let key = ObjectIdentifier(subscriber)
        subscribers[key] = subscriber
        advance(subscriber)
        return Subscription { [weak self] in
            self?.goOn(key)
        } cancel: { [weak self] in
            self?.subscribers[key] = nil
        }
    }

    private func goOn(_ key: ObjectIdentifier) {
        if let subscriber = subscribers[key], subscriber.hasNews { advance(subscriber) }
    }

    /// Whether every reader knows where it is, and has what had happened when it was last woken.
    var isAtEnd: Bool { subscribers.values.allSatisfy { $0.sequence >= 0 && !$0.isReading && !$0.hasNews } }

    /// There are new events.
    public func wake() { for subscriber in subscribers.values { advance(subscriber) } }

    private func advance(_ subscriber: Subscriber) {
        guard subscribers[ObjectIdentifier(subscriber)] != nil else { return }
        // Its place is found at once: who names no last event is told all that happens from here on.
        guard !subscriber.isReading, !subscriber.isPlaced || subscriber.takesMore() else { return subscriber.hasNews = true }
        (subscriber.isReading, subscriber.hasNews) = (true, false)
        let (after, isPlaced) = (subscriber.sequence, subscriber.isPlaced)
        // One read: what happens between two would be behind a place that the second finds.
        client.read { reader -> (place: Int64, events: [ParticipantEvent]) in
            if !isPlaced {
                let last = try reader.lastSequence()
                guard after >= 0, after <= last else { return (last, []) }
            }
            return (after, try reader.events(after: after, limit: Self.pageLength))
        } then: { [weak self] found in
            subscriber.isReading = false
            guard let self else { return }
            // While the store is away nobody has a place: who began at 0 would be told all that ever happened.
            guard let found else { return retryLater() }
            pause = Self.firstPause
            (subscriber.sequence, subscriber.isPlaced) = (found.place, true)
            deliver(found.events, to: subscriber)
        }
    }

    private func retryLater() {
        guard retry == nil else { return }
        retry = loop.schedule(after: pause) { [unowned self] in
            retry = nil
            wake()
        }
        pause = min(pause * 2, Self.longestPause)
    }

    private func deliver(_ events: [ParticipantEvent], to subscriber: Subscriber) {
        for event in events where subscribers[ObjectIdentifier(subscriber)] != nil {
            subscriber.sequence = event.sequence
            guard let value = EventBridgeEncoder.encode(event) else { continue }
            subscriber.send(
                ServerSentEvent(
                    event: EventBridgeEncoder.detailType(of: event), id: String(event.sequence),
                    data: String(decoding: value.serialized(), as: UTF8.self)))
        }
        if events.count == Self.pageLength || subscriber.hasNews { advance(subscriber) }
    }
}
