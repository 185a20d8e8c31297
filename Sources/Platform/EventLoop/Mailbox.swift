import CShim
import Glibc

/// How other threads reach a loop: values sent from any thread are received, in order, on the loop's thread.
///
/// Wake-ups are coalesced: only the message that finds the box empty signals the eventfd. After the mailbox is gone its
/// senders' messages go nowhere, those behind a message that ends it among them. For questions that are answered, see
/// ``ReplyBox``.
///
///     let mailbox = try Mailbox<Int>(loop: loop) { [unowned self] in received($0) }  // on the loop's thread
///     let sender = mailbox.sender  // for any thread
///     if !sender.send(7) { /* full, or gone */ }
public final class Mailbox<Message: Sendable> {
    /// Give this one to other threads.
    public let sender: MailboxSender<Message>

    private let delivery: Delivery<Message>
    private var watch: DescriptorWatch?

    /// - Parameter maximumMessages: how many may wait; further ones are refused at `send`.
    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, priority: EventPriority = .normal, maximumMessages: Int = 65_536,
        receive: @escaping (Message) -> Void
    ) throws(SystemError) {
        let signal = try EventSignal()
        let sender = MailboxSender<Message>(signal: signal, maximumMessages: maximumMessages)
        let delivery = Delivery(from: sender, to: receive)
        (self.sender, self.delivery) = (sender, delivery)
        watch = loop.watch(descriptor: signal.descriptor, for: .read, priority: priority) { delivery.run() }
    }

    /// Receives what waits, on the thread of a loop that turns no more.
    public func deliver() { delivery.run() }

    deinit {
        watch?.cancel()
        delivery.end()
        sender.close()
    }
}

/// Takes what waits to whoever receives it. Apart from its box, so that a message which ends the box is the last: whoever has the
/// box is gone then.
private final class Delivery<Message: Sendable> {
    private let sender: MailboxSender<Message>
    /// Nil once the box is gone.
    private var receive: ((Message) -> Void)?
    /// The last delivery's array, emptied. The next delivery leaves it with the senders and takes theirs, so that a box in
    /// steady use allocates nothing.
    private var spare: [Message] = []

    init(from sender: MailboxSender<Message>, to receive: @escaping (Message) -> Void) {
        (self.sender, self.receive) = (sender, receive)
    }

    func run() {
        var messages: [Message] = []
        swap(&messages, &spare)
        sender.exchange(&messages)
        for message in messages { receive?(message) }
        messages.removeAll(keepingCapacity: messages.count <= Self.maximumKeptCapacity)
        spare = messages
    }

    func end() { receive = nil }

    /// An array that a flood made larger than that is not kept.
    private static var maximumKeptCapacity: Int { 1_024 }
}

/// The sending end of a mailbox, for any thread.
public struct MailboxSender<Message: Sendable>: Sendable {
    private struct Content {
        var messages: [Message] = []
        var isClosed = false
    }

    private let content = Lock(Content())
    private let signal: EventSignal
    private let maximumMessages: Int

    fileprivate init(signal: EventSignal, maximumMessages: Int) {
        (self.signal, self.maximumMessages) = (signal, maximumMessages)
    }

    /// Sends one message; never waits longer than for the box's lock.
    /// - Returns: false when the box is full or gone; the message is then dropped.
    @discardableResult
    public func send(_ message: Message) -> Bool {
        let (isAccepted, isFirst) = content.withLock { content in
            guard !content.isClosed, content.messages.count < maximumMessages else { return (false, false) }
            content.messages.append(message)
            return (true, content.messages.count == 1)
        }
        if isFirst { signal.raise() }
        return isAccepted
    }

    /// Puts what waits in the place of `empty`, which is what the next messages are put into.
    fileprivate func exchange(_ empty: inout [Message]) {
        signal.lower()
        content.withLock { swap(&$0.messages, &empty) }
    }

    fileprivate func close() {
        // Let go of outside the lock: a reply in a message answers somebody then, and whoever sends here would wait for that.
        _ = content.withLock { content in
            content.isClosed = true
            defer { content.messages = [] }
            return content.messages
        }
    }
}

/// An eventfd. It lives as long as anybody may raise it.
final class EventSignal: Sendable {
    let descriptor: CInt

    init() throws(SystemError) {
        descriptor = shim_eventfd()
        if descriptor < 0 { throw SystemError(call: "eventfd") }
    }

    deinit { close(descriptor) }

    func raise() { shim_eventfd_signal(descriptor) }
    func lower() { shim_eventfd_clear(descriptor) }
}
