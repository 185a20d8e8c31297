import EventLoop
import StageHub
import Synchronization
import Wire

/// What one viewer wants and what it gets, between the HTTP requests that ask and the session that sends. Media never comes here.
final class LayerDesk: Sendable {
    enum Event: Sendable, Equatable {
        case changed(LayerState)
        /// The session is over, or its client wants no more streams.
        case ended
    }

    /// An event with the stream that it is for: a worker's streams share one mailbox.
    struct Notice: Sendable {
        var stream: Int
        var event: Event
    }

    private struct Content {
        var wish: LayerWish
        var state: LayerState
        var listeners: [Int: MailboxSender<Notice>] = [:]
        var hasEnded = false
        var requests = Allowance(1, then: LayerDesk.requestInterval)

        func tell(_ event: Event) {
            for (stream, sender) in listeners { sender.send(Notice(stream: stream, event: event)) }
        }
    }

    private let content: Lock<Content>

    /// - Parameter mediaIndex: of the offer's video section; nil without video.
    init(wish: LayerWish, mediaIndex: Int?) {
        content = Lock(Content(wish: wish, state: LayerState(mediaIndex: mediaIndex)))
    }

    var wish: LayerWish {
        get { content.withLock { $0.wish } }
        set { content.withLock { $0.wish = newValue } }
    }

    var state: LayerState { content.withLock { $0.state } }

    /// Whether requests about the session come as seldom as those of a page do.
    func isUnhurried(at now: MonotonicTime) -> Bool {
        content.withLock { $0.requests.take(at: now) }
    }

    /// The session's news. Its listeners are told of what differs in more than figures that change all the time.
    func tell(_ state: LayerState) {
        content.withLock { content in
            let isNews = state.isNews(after: content.state)
            content.state = state
            if isNews { content.tell(.changed(state)) }
        }
    }

    /// Tells `sender` how it stands now, then what changes, until `stopListening`.
    /// - Returns: the stream's number in its notices, which no other stream of any worker has; nil when the session is over, or
    ///   has its greatest number of listeners.
    func listen(_ sender: MailboxSender<Notice>) -> Int? {
        content.withLock { content in
            guard !content.hasEnded, content.listeners.count < Self.maximumListeners else { return nil }
            let stream = Self.streamCount.add(1, ordering: .relaxed).newValue
            content.listeners[stream] = sender
            sender.send(Notice(stream: stream, event: .changed(content.state)))
            return stream
        }
    }

    func stopListening(_ stream: Int) { content.withLock { $0.listeners[stream] = nil } }

    /// Ends all streams, on whatever workers they are.
    func dismissListeners() {
        content.withLock { content in
            content.tell(.ended)
            content.listeners = [:]
        }
    }

    func end() {
        content.withLock { $0.hasEnded = true }
        dismissListeners()
    }

    /// Of all sessions.
    private static let streamCount = Atomic<Int>(0)
    /// A page has one, and for a moment a second one when it is loaded anew.
    static let maximumListeners = 2
    /// The watch page asks every two seconds, and whenever its viewer chooses.
    static let requestInterval = Duration.milliseconds(500)
}
