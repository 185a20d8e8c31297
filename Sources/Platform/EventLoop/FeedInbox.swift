public import Synchronization

/// The way to a loop that reads feeds of other threads: its mailbox, and a wake-up that is sent once until it is answered.
public final class FeedInbox<Message: Sendable>: Sendable {
    @usableFromInline let isAwake = Atomic<Bool>(false)
    private let sender = Lock<MailboxSender<Message>?>(nil)
    @usableFromInline let wakeUp: Message

    /// - Parameter wakeUp: says that feeds of the loop's have blocks.
    public init(wakeUp: Message) { self.wakeUp = wakeUp }

    /// The loop is there.
    public func open(_ sender: MailboxSender<Message>) { self.sender.withLock { $0 = sender } }

    /// - Returns: false when the mailbox is full, gone or not there yet; the message is then dropped.
    @discardableResult
    public func send(_ message: Message) -> Bool { sender.withLock { $0 }?.send(message) ?? false }

    /// Tells the loop that a feed of its has blocks; further ones need no telling until it has looked, or could not be told.
    @inlinable
    public func wake() {
        guard !isAwake.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if !send(wakeUp) { isAwake.store(false, ordering: .releasing) }
    }

    /// The loop is about to look at all its feeds.
    @inlinable
    public func looked() { _ = isAwake.exchange(false, ordering: .acquiringAndReleasing) }
}
