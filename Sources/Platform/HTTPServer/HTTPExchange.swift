public import HTTP

/// One request's right to one answer, on its server's loop.
///
/// A handler that lets go of it unanswered has failed: the client gets 500.
public final class HTTPExchange {
    /// Called when nobody waits for the answer any more: the client has gone, or it took too long.
    public var onCancelled: () -> Void = {}

    private var connection: HTTPConnection?

    init(connection: HTTPConnection) { self.connection = connection }

    deinit { connection?.answer(ProblemDocument(.internalServerError).response()) }

    /// Whether an answer would still be sent.
    public var isOpen: Bool { connection != nil }

    /// Waits so long from now, in the place of `answerTimeout`: the answer comes from somebody who may take that long.
    public func waits(for time: Duration) { connection?.awaitAnswer(for: time) }

    /// Sends the answer. A second one, or one that nobody waits for, is ignored.
    public func respond(_ response: HTTPResponse) {
        connection.take()?.answer(response)
    }

    /// Answers with a problem document (RFC 9457).
    public func respond(_ problem: ProblemDocument) { respond(problem.response()) }

    /// Answers with a stream of server-sent events; nil when nobody waits for it. The connection closes after it.
    public func startEventStream(headers: HTTPHeaders = [:]) -> HTTPEventStream? {
        connection.take()?.startEventStream(headers: headers)
    }

    /// The server is gone: nobody can be answered any more.
    func abandon() { connection = nil }

    func cancel() {
        guard connection.take() != nil else { return }
        onCancelled()
    }
}
