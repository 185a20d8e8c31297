import EventLoop
import Events
import GatewayLogging
import HTTP
import HTTPServer
import Settings
import Store

/// The control loop's side of events: one dispatcher for each webhook, and the readers of `GET /v1/events`.
final class EventService: NodeService {
    private struct Reader {
        let subscription: EventStreamHub.Subscription
        let stream: HTTPEventStream
        let isAdmitted: () -> Bool
    }

    private let hub: EventStreamHub
    /// Where the store has our mailbox.
    private let woken: Lock<MailboxSender<Void>?>
    private let dispatchers: [WebhookDispatcher]
    private var mailbox: Mailbox<Void>?
    private var readers: [ObjectIdentifier: Reader] = [:]

    init(_ configuration: StagedoorConfiguration, loop: EventLoop, store: NodeStore) throws {
        woken = store.onEvents
        hub = try EventStreamHub(loop: loop, store: store.membership.store)
        dispatchers = try configuration.webhooks.sorted { $0.key < $1.key }.map { name, settings in
            try WebhookDispatcher(
                loop: loop, name: name, settings: settings, store: store.membership.outbox,
                send: WebhookDispatcher.sender(
                    to: settings, loop: loop, failed: ServiceFaults.log("webhook_failed", ["webhook": .string(name)])))
        }
        mailbox = try Mailbox(loop: loop) { [unowned self] in wake() }
        woken.withLock { $0 = mailbox?.sender }
    }

    /// Serves `GET /v1/events` as server-sent events, from `Last-Event-ID` on.
    /// - Parameter isAdmitted: whether who made the request may still read them.
    func stream(_ request: HTTPRequest, _ exchange: HTTPExchange, isAdmitted: @escaping () -> Bool) {
        guard readers.count < EventStreamHub.maximumSubscribers, let stream = exchange.startEventStream() else {
            return exchange.respond(ProblemDocument(.serviceUnavailable, detail: "Too many readers of events."))
        }
        let place = hub.subscribe(
            lastEventID: request.headers["Last-Event-ID"], takesMore: { stream.takesMore }, send: { stream.send($0) })
        guard let place else { return }
        let key = ObjectIdentifier(stream)
        readers[key] = Reader(subscription: place, stream: stream, isAdmitted: isAdmitted)
        stream.onDrained = { [weak self] in self?.readers[key]?.subscription.goOn() }
        stream.onClosed = { [weak self] in self?.readers[key] = nil }
    }

    /// Ends the streams of those who may not read any more.
    func recheckReaders() {
        for (key, reader) in readers where !reader.isAdmitted() {
            readers[key] = nil
            reader.stream.close()
        }
    }

    /// What nobody has taken waits in the store for the next start.
    func stop() { woken.withLock { $0 = nil } }

    /// Another process delivers from now on.
    func suspend() { for dispatcher in dispatchers { dispatcher.suspend() } }

    /// Delivers again what nobody has taken.
    func resume() { for dispatcher in dispatchers { dispatcher.resume() } }

    private func wake() {
        // Sessions at the console end by time, too.
        recheckReaders()
        hub.wake()
        for dispatcher in dispatchers { dispatcher.wake() }
    }
}
