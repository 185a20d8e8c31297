public import EventLoop
import HTTPClient
import JSON
public import Settings
import Signatures
public import Store
public import Wire

/// Sends events to one webhook from its durable outbox: at least once, in order per participant. Confined to its loop.
public final class WebhookDispatcher {
    /// How a request leaves and comes back; the status of the answer, or nil when there was none.
    public typealias Send = (_ headers: [(name: String, value: String)], _ body: [UInt8], _ done: @escaping (Int?) -> Void) ->
        Void

    /// Events that one read of the outbox brings. It is read on while fewer than half as many are in
    /// memory; the rest waits on disk.
    static let maximumLoaded = 1_000
    /// Refused events in memory, one of each participant, besides: each answer looks through all of them.
    static let maximumRefused = 2_000
    /// Numbers of events among which a participant's next ones are looked for at once.
    static let maximumSearched: Int64 = 10_000
    /// Until an outbox that could not be read is asked again.
    static let readPause = Duration.seconds(1)

    private let loop: EventLoop
    /// The name under which its outbox is kept.
    private let name: String
    private let settings: WebhookSettings
    private let store: any GatewayStore
    private let client: StoreClient
    private let send: Send
    private let wallNow: () -> WallTime
    private var queue = WebhookQueue()
    private var loadedThrough: Int64 = 0
    private var isLoading = false
    private var hasMore = true
    private var isSuspended = false
    /// How often everything was begun anew: what was asked before does not count.
    private var beginnings = 0
    private var timer: TimerWatch?
    private var retry: TimerWatch?

    /// - Throws: when the system gives no more descriptors.
    public init(
        loop: EventLoop, name: String, settings: WebhookSettings, store: any GatewayStore,
        wallNow: @escaping () -> WallTime = { EventLoop.wallNow() }, send: @escaping Send
    ) throws(SystemError) {
        (self.loop, self.name, self.settings) = (loop, name, settings)
        (self.store, self.send, self.wallNow) = (store, send, wallNow)
        client = try StoreClient(loop: loop, store: store)
        load()
    }

    /// Sends nothing more: another process has the outbox.
    public func suspend() {
        isSuspended = true
        timer?.cancel()
        timer = nil
    }

    /// Begins anew with what is in the outbox.
    public func resume() {
        isSuspended = false
        (queue, loadedThrough, hasMore) = (WebhookQueue(), 0, true)
        beginnings += 1
        load()
    }

    /// There are new events in the outbox.
    public func wake() {
        loop.assertOnLoop()
        hasMore = true
        load()
    }

    private func load() {
        guard !isLoading, !isSuspended else { return }
        if let wanted = queue.wanted { return loadRest(of: wanted.participant, after: wanted.after) }
        guard hasMore, queue.count - queue.refused < Self.maximumLoaded / 2, queue.refused < Self.maximumRefused else { return }
        hasMore = false
        let (name, after) = (name, loadedThrough)
        read {
            try $0.undelivered(to: name, after: after, limit: Self.maximumLoaded)
        } then: { [unowned self] events in
            if events.count == Self.maximumLoaded { hasMore = true }
            loadedThrough = events.last?.sequence ?? loadedThrough
            for event in deliverable(events) { queue.add(event) }
        }
    }

    /// What is behind `loadedThrough` comes by itself.
    private func loadRest(of participant: StageParticipant, after: Int64) {
        let end = min(loadedThrough, after + Self.maximumSearched)
        guard after < end else {
            queue.addRest([], of: participant, restAfter: nil)
            return load()
        }
        let (name, limit) = (name, WebhookQueue.maximumOfParticipant)
        read {
            try $0.undelivered(to: name, of: participant, in: after + 1...end, limit: limit)
        } then: { [unowned self] events in
            let searchedThrough = end < loadedThrough ? end : nil
            let restAfter = events.count == limit ? events.last?.sequence : searchedThrough
            queue.addRest(deliverable(events), of: participant, restAfter: restAfter)
        }
    }

    /// One read after the other: how far the outbox has been read does not change under way. What fails is asked again later.
    private func read(
        _ body: @escaping @Sendable (any HistoryReading) throws -> [ParticipantEvent],
        then: @escaping ([ParticipantEvent]) -> Void
    ) {
        isLoading = true
        let beginning = beginnings
        client.read(body) { [weak self] events in
            guard let self else { return }
            guard let events else { return loadLater() }
            isLoading = false
            if beginning == beginnings { then(events) }
            advance()
        }
    }

    private func loadLater() {
        hasMore = true
        retry = loop.schedule(after: Self.readPause) { [unowned self] in
            isLoading = false
            load()
        }
    }

    /// Those that have a form; the others are done with.
    private func deliverable(_ events: [ParticipantEvent]) -> [ParticipantEvent] {
        let formless = events.filter { !EventBridgeEncoder.hasForm($0) }.map(\.sequence)
        if !formless.isEmpty { store.record([.delivered(target: name, sequences: formless)]) }
        return events.filter(EventBridgeEncoder.hasForm)
    }

    private func advance() {
        guard !isSuspended else { return }
        for event in queue.due(at: loop.now) { start(event) }
        timer?.cancel()
        timer = nil
        if let next = queue.nextAttempt(after: loop.now) {
            timer = loop.schedule(after: max(.milliseconds(1), next - loop.now)) { [unowned self] in advance() }
        }
        load()
    }

    private func start(_ event: ParticipantEvent) {
        guard let body = EventBridgeEncoder.encode(event)?.serialized() else { return }
        let seconds = wallNow().secondsSince1970
        send(WebhookSignature.headers(of: body, at: seconds, secret: settings.secret), body) { [weak self] status in
            self?.finished(event, isTaken: status.map { (200...299).contains($0) } ?? false)
        }
    }

    private func finished(_ event: ParticipantEvent, isTaken: Bool) {
        if isTaken {
            queue.taken(event)
            store.record([.delivered(target: name, sequences: [event.sequence])])
        } else {
            queue.failed(event, at: loop.now)
        }
        advance()
    }
}

extension WebhookDispatcher {
    /// Sends by libcurl on the loop: verified TLS, a deadline, no redirects.
    /// - Parameter failed: hears each time why an event was not taken.
    public static func sender(
        to settings: WebhookSettings, loop: EventLoop, failed: @escaping (String) -> Void = { _ in }
    ) -> Send {
        let client = HTTPClient(loop: loop)
        return { headers, body, done in
            var request = HTTPClientRequest(method: "POST", url: settings.url, headers: headers, body: body)
            request.deadline = settings.timeout
            request.maximumBodyLength = 16 * 1024
            request.tls.certificateAuthority = settings.certificateAuthority
            client.send(request) { result in
                if let fault = result.fault { failed(fault) }
                done(result.status)
            }
        }
    }
}

extension Result<HTTPClientResponse, HTTPClientError> {
    /// The answer's, however long its body, into which nobody looks; nil when there was none.
    fileprivate var status: Int? {
        switch self {
        case .success(let response): response.status
        case .failure(.tooLong(let status)): status
        case .failure: nil
        }
    }

    /// Why what was sent does not count as taken; nil where it does.
    fileprivate var fault: String? {
        switch (status, self) {
        case (let status?, _): (200...299).contains(status) ? nil : "it answered \(status)"
        case (nil, .failure(let error)): error.words
        case (nil, .success): nil
        }
    }
}
