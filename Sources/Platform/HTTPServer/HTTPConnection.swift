import EventLoop
import HTTP
import OpenSSL
import Sockets
import Wire

/// One connection of a server: bytes to requests, answers to bytes, and one deadline at a time.
final class HTTPConnection {
    private enum Phase {
        /// Whatever comes first from a balancer may be a PROXY header.
        case awaitingProxyHeader
        case idle
        case reading
        /// A request is with the handler.
        case answering
        case streaming
        case closing
    }

    /// Requests taken from one connection in one turn: pipelining shall not hold up the loop.
    static let maximumRequestsPerTurn = 16
    /// Bytes that may wait behind a request; then the kernel keeps them.
    static let maximumWaitingBytes = 16 * 1024
    /// Answers that wait to be taken; then no further request is read.
    static let maximumUnsentBytes = 256 * 1024

    private unowned let server: HTTPServer
    /// The server's name for it; rises with every one.
    let number: UInt64
    let stream: TCPStream
    private let tls: TLSContext?
    private var parser: HTTPRequestParser
    private var phase = Phase.idle
    private var timer: TimerWatch?
    /// Of the last answers, while the timer measures how they are taken.
    private var pace = AnswerPace(untaken: 0, within: .zero)
    private var breather: TimerWatch?
    /// The address whose share this connection counts against; nil for a balancer that has not said for whom it speaks yet.
    private(set) var countedAddress: IPAddress?
    private(set) var idleSince: MonotonicTime
    private var request: HTTPRequest?
    private(set) weak var exchange: HTTPExchange?
    private(set) weak var eventStream: HTTPEventStream?
    private var hasPeerFinished = false
    private var requestCount = 0
    private var turn = (moment: MonotonicTime.zero, requests: 0)
    /// Whether the stream holds bytes that it must be asked to deliver again.
    private var hasWaitingBytes = false
    private var isParsing = false

    init(
        server: HTTPServer, number: UInt64, stream: TCPStream, tls: TLSContext?, countedAddress: IPAddress?,
        beginsWithProxyHeader: Bool
    ) {
        (self.server, self.number, self.stream, self.tls) = (server, number, stream, tls)
        let configuration = server.configuration
        parser = HTTPRequestParser(limits: configuration.limits, maximumBodyLength: configuration.maximumBodyLength)
        self.countedAddress = countedAddress
        if beginsWithProxyHeader { phase = .awaitingProxyHeader }
        idleSince = server.loop.now
    }

    deinit {
        // A stream that is saying goodbye outlives us.
        stream.onClosed = { _ in }
        unsafe stream.onBytes = { $0.count }
        stream.onDrained = {}
        stream.onPeerFinished = nil
    }

    /// A kept connection between two requests, its answer with the kernel.
    var isKeptIdle: Bool { phase == .idle && requestCount > 0 && parser.isIdle && stream.pendingWriteBytes == 0 }

    /// Nothing whole has come yet.
    var isNewcomer: Bool { requestCount == 0 && phase != .closing }

    func start() {
        // This class bounds what waits: one answer, however long, behind `maximumUnsentBytes` of earlier ones, or what
        // HTTPEventStream lets wait.
        stream.maximumPendingWriteBytes = .max
        unsafe stream.onBytes = { [unowned self] bytes in unsafe receive(bytes) }
        stream.onClosed = { [unowned self] _ in closed() }
        stream.onPeerFinished = { [unowned self] in peerFinished() }
        stream.onDrained = { [unowned self] in drained() }
        timer = server.loop.schedule(after: server.configuration.requestTimeout) { [unowned self] in deadlinePassed() }
        if phase == .idle, let tls { stream.startTLS(tls) }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        if phase == .awaitingProxyHeader {
            guard let count = unsafe takeProxyHeader(bytes) else { return 0 }
            if count > 0 || stream.isTLS || phase == .closing { return count }
        }
        isParsing = true
        defer { isParsing = false }
        let count = unsafe receiveRequest(bytes)
        hasWaitingBytes = count < bytes.count
        return count
    }

    private func receiveRequest(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch phase {
        case .streaming, .closing: return bytes.count
        case .answering, .awaitingProxyHeader:
            if bytes.count > Self.maximumWaitingBytes { stream.pauseReading() }
            return 0
        case .idle:
            guard takeTurn() else { return 0 }
            phase = .reading
            if requestCount > 0 { timer?.rearm(after: server.configuration.requestTimeout) }
        case .reading: break
        }
        do {
            let (count, event) = unsafe try parser.receive(bytes.bytes)
            if let event { take(event) }
            return count
        } catch {
            server.count(\.malformed)
            refuse(ProblemDocument(error.status, detail: error.sentence))
            return bytes.count
        }
    }

    /// Whether another request may begin in this turn; if not, the stream is asked to come back in the next.
    private func takeTurn() -> Bool {
        if turn.moment != server.loop.now { turn = (server.loop.now, 0) }
        turn.requests += 1
        guard turn.requests > Self.maximumRequestsPerTurn else { return true }
        stream.pauseReading()
        // Later than now: what is due at once is still served in this turn.
        breather = server.loop.schedule(after: .microseconds(100)) { [unowned self] in stream.resumeReading() }
        return false
    }

    /// Takes a PROXY header off: its length, 0 when there is none, nil while it is not complete.
    private func takeProxyHeader(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var count = 0
        do {
            guard let header = unsafe try PROXYHeader.parse(bytes.bytes) else { return nil }
            count = header.byteCount
            if let source = header.source {
                stream.remoteAddress = source
                guard server.admit(source.ip) else {
                    server.count(\.refused)
                    phase = .closing
                    stream.closeAfterFlush()
                    return bytes.count
                }
                countedAddress = source.ip
            }
        } catch {
            guard error == .missing else {
                server.count(\.malformed)
                let sentence = error == .version1 ? "Send version 2 of the PROXY protocol." : "The PROXY header is malformed."
                refuse(ProblemDocument(.badRequest, detail: sentence))
                return bytes.count
            }
        }
        phase = .idle
        if let tls { stream.startTLS(tls) }
        return count
    }

    private func take(_ event: HTTPRequestParser.Event) {
        switch event {
        case .continueExpected: stream.write(HTTPResponse.continueBytes)
        case .request(var request):
            server.count(\.requests)
            requestCount += 1
            let forwarded = ForwardedSource(
                peer: stream.remoteAddress, isSecure: stream.isTLS, headers: request.headers,
                trusted: server.configuration.trustedProxies)
            (request.source, request.isSecure) = (forwarded.source, forwarded.isSecure)
            phase = .answering
            timer?.rearm(after: server.configuration.answerTimeout)
            self.request = request
            let exchange = HTTPExchange(connection: self)
            self.exchange = exchange
            server.handler(request, exchange)
        }
    }

    private func becameIdle() {
        (phase, request) = (.idle, nil)
        idleSince = server.loop.now
        beginTaking()
    }

    /// The client has a while for what it has not taken yet.
    private func beginTaking() {
        pace = AnswerPace(untaken: untakenBytes, within: server.configuration.idleTimeout)
        timer?.rearm(after: server.configuration.idleTimeout)
    }

    /// What the client has not taken of its answers; none once the kernel has all of them.
    private var untakenBytes: Int { stream.pendingWriteBytes == 0 ? 0 : stream.unacknowledgedBytes }

    // MARK: - Answers

    /// The handler knows how long its answer may take.
    func awaitAnswer(for time: Duration) {
        if phase == .answering { timer?.rearm(after: time) }
    }

    /// Answers the request that is with the handler.
    func answer(_ response: HTTPResponse) {
        guard phase == .answering, let request else { return }
        let isLast = isLast(request, response)
        stream.write(completed(response).serialized(answering: request.method, date: server.dateField, isLast: isLast))
        exchange = nil
        if isLast { return finishAnswered() }
        becameIdle()
        goOn()
    }

    /// Begins an event stream as the answer.
    func startEventStream(headers: HTTPHeaders) -> HTTPEventStream? {
        guard phase == .answering, let request else { return nil }
        var response = HTTPResponse(.ok, headers: headers)
        response.headers["Content-Type"] = "text/event-stream"
        response.headers["Cache-Control"] = "no-store"
        stream.write(completed(response).serializedStreamHead(to: request.version, date: server.dateField))
        exchange = nil
        phase = .streaming
        timer?.rearm(after: HTTPEventStream.keepAliveInterval)
        let events = HTTPEventStream(connection: self, isChunked: request.version != .http10)
        eventStream = events
        return events
    }

    /// Refuses what is no request, or comes too late, and closes.
    private func refuse(_ problem: ProblemDocument) {
        stream.write(completed(problem.response()).serialized(answering: .get, date: server.dateField, isLast: true))
        finish()
    }

    /// Lets go after last words.
    func finish() {
        phase = .closing
        timer?.cancel()
        stream.closeAfterFlush()
    }

    /// Lets go after the last answer, which the client takes as it takes others.
    private func finishAnswered() {
        phase = .closing
        beginTaking()
        stream.closeAfterFlush(within: pace.longestTime)  // it may outlive us, and our timer
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

    // MARK: - What happens without the client asking

    private func deadlinePassed() {
        if phase == .idle || phase == .closing, pace.isEnough(left: untakenBytes) { return beginTaking() }
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
            // Who has been answered may rest until then: that is nobody's fault.
            if requestCount == 0 { server.count(\.timedOut) }
            close()
        case .closing:
            if stream.pendingWriteBytes > 0 { close() }
        }
    }

    private func peerFinished() {
        hasPeerFinished = true
        guard phase != .answering, phase != .closing else { return }
        finishAnswered()  // what was answered is still sent
    }

    private func drained() {
        if phase == .idle || phase == .reading { stream.resumeReading() }
        if isKeptIdle { becameIdle() }  // only now: until then it took its answer
    }

    func drain() {
        switch phase {
        case .idle where stream.pendingWriteBytes > 0: finishAnswered()
        case .awaitingProxyHeader, .idle: close()
        case .streaming: eventStream?.end()
        case .reading, .answering, .closing: break
        }
    }

    /// Ends the connection without a word.
    func close() {
        stream.close()
        closed()
    }

    private func closed() {
        let (exchange, events) = (exchange, eventStream)
        phase = .closing
        timer?.cancel()
        server.remove(self)
        exchange?.cancel()
        events?.cancel()
    }
}
