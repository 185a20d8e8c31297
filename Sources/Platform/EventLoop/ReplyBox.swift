/// Questions that one loop asks of other threads, and the way back for their answers. Confined to the loop.
///
/// Only the ``Reply`` leaves the loop; what shall be done with the answer stays here, is called on the loop, once, and may hold
/// anything of the loop's. Whoever asks hears of every end but one: nil comes when too many questions are under way, and when
/// the other side lets go of the reply; a side that keeps the reply and never answers is waited for until `cancel`. When the
/// box goes, what waits in it goes unheard.
///
///     // `replies` belongs to `self`, so what it calls never outlives it.
///     replies.ask { reply in
///         authorizer.authorize(request) { reply($0) }
///     } then: { [unowned self] (result: Result<PublishGrant, Refusal>?) in
///         authorized(result ?? .failure(Refusal(.overloaded)))
///     }
public final class ReplyBox {
    /// A question under way, for `cancel`.
    public struct Question: Hashable, Sendable {
        fileprivate let number: Int
    }

    private let pending: PendingReplies
    private let mailbox: Mailbox<Int>

    /// - Parameter maximumQuestions: how many may be under way; a further one gets nil at once.
    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, maximumQuestions: Int = 4_096) throws(SystemError) {
        let pending = PendingReplies(maximumCount: maximumQuestions)
        self.pending = pending
        // A question has one message at most, and questions are counted.
        mailbox = try Mailbox(loop: loop, maximumMessages: .max) { pending.table.remove($0)?.receive() }
    }

    /// What the box would call may hold who is gone: nothing is called any more, whatever is already on its way.
    deinit { _ = pending.table.removeAll() }

    /// Asks somebody who may answer at once, on this thread, or later from any other one.
    ///
    /// An answer that is given while `ask` runs is received as soon as `ask` returns, without a turn of the loop.
    /// - Parameters:
    ///   - ask: called at once, unless too many questions are under way.
    ///   - then: called on the loop with the answer, or with nil when there will be none; never while `ask` runs.
    /// - Returns: the question while it is under way; nil when `then` has been called.
    @discardableResult
    public func ask<Answer: Sendable>(
        _ ask: (Reply<Answer>) -> Void, then: @escaping (Answer?) -> Void
    ) -> Question? {
        let answer = Lock(ReplyState<Answer>.asking)
        guard let number = pending.table.insert(PendingReply(answer: answer, then: then)) else {
            then(nil)
            return nil
        }
        ask(Reply(number: number, state: answer, sender: mailbox.sender))
        let isPrompt = answer.withLock { $0.waits() }
        guard isPrompt else { return Question(number: number) }
        pending.table.remove(number)?.receive()
        return nil
    }

    /// Nobody wants the answer any more: what was to be done with it is let go of, and replying returns false.
    ///
    /// An answer may be on its way already and is lost then: where it would own something, let it come and look at it.
    public func cancel(_ question: Question) { pending.table.remove(question.number)?.cancel() }
}

/// The right to answer one question, once, from any thread. Letting go of it unanswered is an answer too: nobody will.
public final class Reply<Answer: Sendable>: Sendable {
    private let number: Int
    private let state: Lock<ReplyState<Answer>>
    private let sender: MailboxSender<Int>

    fileprivate init(number: Int, state: Lock<ReplyState<Answer>>, sender: MailboxSender<Int>) {
        (self.number, self.state, self.sender) = (number, state, sender)
    }

    deinit { give(nil) }

    /// Answers. Never waits longer than for the box's lock.
    /// - Returns: false when the answer goes nowhere: there was one already, or whoever asked has cancelled or is gone.
    ///   An answer that owns something, such as a lease, has to be given back then.
    @discardableResult
    public func callAsFunction(_ answer: Answer) -> Bool { give(answer) }

    @discardableResult
    private func give(_ answer: Answer?) -> Bool {
        switch state.withLock({ $0.give(answer) }) {
        case .refused: false
        case .prompt: true
        case .awaited: sender.send(number)
        }
    }
}

/// What has become of one question.
private enum ReplyState<Answer: Sendable>: Sendable {
    /// Whoever asks is still asking and looks here next.
    case asking
    case awaited
    case given(Answer?)
    case over

    enum Acceptance: Sendable { case refused, prompt, awaited }

    mutating func give(_ answer: Answer?) -> Acceptance {
        switch self {
        case .asking:
            self = .given(answer)
            return .prompt
        case .awaited:
            self = .given(answer)
            return .awaited
        case .given, .over: return .refused
        }
    }

    /// Asking is over.
    /// - Returns: whether there is an answer already.
    mutating func waits() -> Bool {
        guard case .asking = self else { return true }
        self = .awaited
        return false
    }

    mutating func take() -> Answer? {
        defer { self = .over }
        guard case .given(let answer) = self else { return nil }
        return answer
    }
}

/// A question of any type of answer, on the loop that asked it.
private protocol AnyPendingReply {
    func receive()
    func cancel()
}

private struct PendingReply<Answer: Sendable>: AnyPendingReply {
    let answer: Lock<ReplyState<Answer>>
    let then: (Answer?) -> Void

    func receive() { then(answer.withLock { $0.take() }) }
    func cancel() { _ = answer.withLock { $0.take() } }
}

/// Apart from its box, so that an answer which ends the box finds a table, though an empty one, for those behind it.
private final class PendingReplies {
    var table: ReplyTable<any AnyPendingReply>

    init(maximumCount: Int) { table = ReplyTable(maximumCount: maximumCount) }
}

/// Who waits for which answer, by numbers that are never used again. A value for one thread; a `ReplyBox` has one inside, and
/// where the number itself travels, to another process or through a machine, it is used alone.
public struct ReplyTable<Waiter> {
    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0
    private let maximumCount: Int

    /// - Parameter maximumCount: how many may wait; further ones are refused.
    public init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// How many wait.
    public var count: Int { waiters.count }

    /// - Returns: the number to be answered by; nil when the table is full.
    public mutating func insert(_ waiter: Waiter) -> Int? {
        guard waiters.count < maximumCount else { return nil }
        lastNumber += 1
        waiters[lastNumber] = waiter
        return lastNumber
    }

    /// Takes out who waits by that number; nil when nobody does, or not any more.
    public mutating func remove(_ number: Int) -> Waiter? { waiters.removeValue(forKey: number) }

    /// Takes out all, in the order in which they came.
    public mutating func removeAll() -> [Waiter] {
        defer { waiters = [:] }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }
}
