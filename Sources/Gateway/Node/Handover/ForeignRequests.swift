import EventLoop
import HTTP

/// A request for a session of the process before us, and the way back for its answer.
struct ForeignRequest: Sendable {
    var request: HTTPRequest
    var reply: @Sendable (HTTPResponse) -> Void
}

/// The door through which workers pass such requests to the control loop; closed while there is no process before us.
final class ForeignRequests: Sendable {
    private let sender = Lock<MailboxSender<ForeignRequest>?>(nil)

    func open(_ sender: MailboxSender<ForeignRequest>?) { self.sender.withLock { $0 = sender } }

    /// False when nobody takes it.
    func pass(_ request: ForeignRequest) -> Bool { sender.withLock { $0 }?.send(request) ?? false }
}

/// Answers of the process before us on their way back to one worker's HTTP connections. Confined to the worker.
final class ForeignAnswers {
    private struct Answer: Sendable {
        var number: Int
        var response: HTTPResponse
    }

    private let requests: ForeignRequests
    private var waiting: [Int: (HTTPResponse) -> Void] = [:]
    private var lastNumber = 0
    private var mailbox: Mailbox<Answer>?

    init(loop: EventLoop, requests: ForeignRequests) throws {
        self.requests = requests
        mailbox = try Mailbox(loop: loop) { [unowned self] in waiting.removeValue(forKey: $0.number)?($0.response) }
    }

    /// - Returns: false when there is no process before us; then `respond` is not called.
    func pass(_ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool {
        lastNumber += 1
        let (number, sender) = (lastNumber, mailbox?.sender)
        let isTaken = requests.pass(
            ForeignRequest(request: request) { sender?.send(Answer(number: number, response: $0)) })
        if isTaken { waiting[number] = respond }
        return isTaken
    }
}
