import EventLoop
import HTTP
import Sockets
import Wire

extension HTTPConnection {
    /// Answers the request that is with the handler.
    func answer(_ response: HTTPResponse) {
        guard phase == .answering, let request else { return }
        let isLast = isLast(request, response)
        stream.write(completed(response).serialized(answering: request.method, date: server.dateField, isLast: isLast))
        server.onAnswered(request, response.status, server.loop.now - answeringSince)
        exchange = nil
        if isLast { return finish() }
        becameIdle()
        goOn()
    }

    /// Begins an event stream as the answer.
    func startEventStream(headers: HTTPHeaders) -> HTTPEventStream? {
        guard phase == .answering, let request else { return nil }
        var response = HTTPResponse(.ok, headers: headers)
        response.headers["Content-Type"] = "text/event-stream"
        response.headers["Cache-Control"] = "no-store"
        stream.write(completed(response).serializedChunkedHead(date: server.dateField, isLast: true))
        server.onAnswered(request, .ok, server.loop.now - answeringSince)
        exchange = nil
        phase = .streaming
        timer?.rearm(after: HTTPEventStream.keepAliveInterval)
        let events = HTTPEventStream(connection: self)
        eventStream = events
        return events
    }

    /// Refuses what is no request, or comes too late, and closes.
    func refuse(_ problem: ProblemDocument) {
        stream.write(completed(problem.response()).serialized(answering: .get, date: server.dateField, isLast: true))
        finish()
    }

    /// Lets go after the last answer.
    func finish() {
        phase = .closing
        timer?.cancel()
        stream.closeAfterFlush()
    }

    /// Reads on after an answer, once the client has taken most of it.
    private func goOn() {
        guard stream.pendingWriteBytes <= Self.maximumUnsentBytes else { return stream.pauseReading() }
        guard !isParsing, hasWaitingBytes else { return }
        stream.pauseReading()  // what is kept comes again only after a pause
        stream.resumeReading()
    }

    private func isLast(_ request: HTTPRequest, _ response: HTTPResponse) -> Bool {
        !request.keepsConnection || response.closesConnection || server.isDraining || hasPeerFinished
    }

    /// With the fields that every answer of the server has.
    private func completed(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        for field in server.configuration.headers.fields where !response.headers.contains(field.name) {
            response.headers.add(field.name, field.value)
        }
        return response
    }
}

/// What happens without the client asking.
extension HTTPConnection {
    func deadlinePassed() {
        switch phase {
        case .reading where !parser.isIdle:
            server.count(\.timedOut)
            refuse(ProblemDocument(.requestTimeout, detail: "The request did not arrive whole in time."))
        case .answering:
            server.count(\.timedOut)
            let exchange = exchange
            answer(
                ProblemDocument(.serviceUnavailable, detail: "The answer took too long.").response(headers: ["Retry-After": "5"]))
            exchange?.cancel()
        case .streaming:
            eventStream?.keepAlive()
            timer?.rearm(after: HTTPEventStream.keepAliveInterval)
        case .awaitingProxyHeader, .idle, .reading:
            server.count(\.timedOut)
            close()
        case .closing: break
        }
    }

    func peerFinished() {
        hasPeerFinished = true
        if phase != .answering, phase != .closing { finish() }  // what was answered is still sent
    }

    func drained() {
        if phase == .idle || phase == .reading { stream.resumeReading() }
    }

    func drain() {
        switch phase {
        case .awaitingProxyHeader, .idle: close()
        case .streaming: eventStream?.close()
        case .reading, .answering, .closing: break
        }
    }

    /// Ends the connection without a word.
    func close() {
        stream.close()
        closed()
    }

    func closed() {
        let (exchange, events) = (exchange, eventStream)
        phase = .closing
        timer?.cancel()
        server.remove(self)
        exchange?.cancel()
        events?.cancel()
    }
}
