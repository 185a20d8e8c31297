import EventLoop
import HTTP
import Refusals
import WebRTCTransport

/// A request for a session of the process before us, and the way back for its answer.
struct PredecessorRequest: Sendable {
    var request: HTTPRequest
    var reply: Reply<HTTPResponse>
}

/// Where workers leave such requests for the control loop; closed while there is no process before us.
final class PredecessorRequests: Sendable {
    private let sender = Lock<MailboxSender<PredecessorRequest>?>(nil)

    var isOpen: Bool { sender.withLock { $0 != nil } }

    func open(_ sender: MailboxSender<PredecessorRequest>?) { self.sender.withLock { $0 = sender } }

    func send(_ request: PredecessorRequest) { _ = sender.withLock { $0 }?.send(request) }
}

/// Passes the requests of one worker's HTTP connections to the process before us. Confined to the worker.
final class PredecessorAnswers {
    private let requests: PredecessorRequests
    private let replies: ReplyBox

    /// - Throws: when the system gives no more descriptors.
    init(loop: EventLoop, requests: PredecessorRequests) throws(SystemError) {
        self.requests = requests
        replies = try ReplyBox(loop: loop)
    }

    /// - Returns: false when there is no process before us; then `respond` is not called.
    func pass(_ request: HTTPRequest, _ respond: @escaping (HTTPResponse) -> Void) -> Bool {
        guard requests.isOpen else { return false }
        replies.ask { reply in
            requests.send(PredecessorRequest(request: request, reply: reply))
        } then: { (response: HTTPResponse?) in
            respond(response ?? Refusal(.sessionOutOfReach).response(headers: ["Retry-After": "2"]))
        }
        return true
    }
}
