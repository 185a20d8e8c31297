import EventLoop
import HTTP
import OpenSSL
import Sockets
import Wire

/// One connection of a server: bytes to requests, answers to bytes, and one deadline at a time.
final class HTTPConnection {
    /// Bytes that may wait behind a request; then the kernel keeps them.
    static let maximumWaitingBytes = 16 * 1024
    /// Answers that wait to be taken; then no further request is read.
    static let maximumUnsentBytes = 256 * 1024

    /// It keeps its connections until they are closed.
    private unowned let server: HTTPServer
    /// The server's name for it; rises with every one.
    let number: UInt64
    let stream: TCPStream
    private let tls: TLSContext?
    private var introduction: HTTPIntroduction
    private var requests: RequestIntake
    private var deadline = ConnectionDeadline()
    private var breather: TimerWatch?
    /// The address whose share this connection counts against; nil for a balancer that has not said for whom it speaks yet.
    private(set) var countedAddress: IPAddress?
    private(set) var idleSince: MonotonicTime
    private var request: HTTPRequest?
    private(set) weak var exchange: HTTPExchange?
    private(set) weak var eventStream: HTTPEventStream?
    private var hasPeerFinished = false

    init(
        server: HTTPServer, number: UInt64, stream: TCPStream, tls: TLSContext?, countedAddress: IPAddress?,
        mayBeginWithProxyHeader: Bool
    ) {
        (self.server, self.number, self.stream, self.tls) = (server, number, stream, tls)
        introduction = HTTPIntroduction(mayBeginWithProxyHeader: mayBeginWithProxyHeader, speaksTLS: tls != nil)
        requests = RequestIntake(server.configuration)
        self.countedAddress = countedAddress
        idleSince = server.loop.now
    }

    deinit {
        // A stream that is saying goodbye outlives us.
        stream.onClosed = { _ in }
        unsafe stream.onBytes = { $0.count }
        stream.onDrained = {}
        stream.onPeerFinished = nil
    }

    private var phase: ConnectionDeadline.Phase { deadline.phase }

    /// A kept connection between two requests, its answer with the kernel.
    var isKeptIdle: Bool { phase == .idle && requests.count > 0 && !requests.hasBegun && stream.pendingWriteBytes == 0 }

    /// Nothing whole has come yet.
    var isNewcomer: Bool { requests.count == 0 && phase != .closing }

    func start() {
        // This class bounds what waits: one answer, however long, behind `maximumUnsentBytes` of earlier ones, or what
        // HTTPEventStream lets wait.
        stream.maximumPendingWriteBytes = .max
        unsafe stream.onBytes = { [unowned self] bytes in unsafe receive(bytes) }
        stream.onClosed = { [unowned self] _ in closed() }
        stream.onPeerFinished = { [unowned self] in peerFinished() }
        stream.onDrained = { [unowned self] in drained() }
        deadline.start(
            server.loop.schedule(after: server.configuration.requestTimeout) { [unowned self] in deadlinePassed() })
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch unsafe introduction.receive(bytes.bytes) {
        case .wait: return 0
        case .takeHeader(let header):
            if let client = header.source { balancerSpeaks(for: client) }
            return header.byteCount
        case .startTLS:
            if let tls { stream.startTLS(tls) }
            return 0
        case .refuse(let sentence):
            server.count(\.malformed)
            refuse(ProblemDocument(.badRequest, detail: sentence))
            return bytes.count
        case .readRequests:
            requests.deliveryBegins()
            let count = unsafe receiveRequest(bytes)
            requests.deliveryEnds(leaving: bytes.count - count)
            return count
        }
    }

    /// Whose share of connections it counts against is known only now.
    private func balancerSpeaks(for client: SocketAddress) {
        stream.remoteAddress = client
        guard server.admit(client.ip) else {
            server.count(\.refused)
            deadline.enter(.closing)
            return stream.closeAfterFlush()
        }
        countedAddress = client.ip
    }

    private func receiveRequest(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch phase {
        case .streaming, .closing: return bytes.count
        case .answering:
            if bytes.count > Self.maximumWaitingBytes { stream.pauseReading() }
            return 0
        case .idle:
            guard requests.admits(at: server.loop.now) else {
                pauseForTurn()
                return 0
            }
            deadline.enter(.reading, for: requests.count > 0 ? server.configuration.requestTimeout : nil)
        case .reading: break
        }
        do {
            let (count, event) = unsafe try requests.take(bytes.bytes)
            if let event { take(event) }
            return count
        } catch {
            server.count(\.malformed)
            refuse(ProblemDocument(error.status, detail: error.sentence))
            return bytes.count
        }
    }

    /// Takes nothing more in this turn, and asks the stream to come back in the next.
    private func pauseForTurn() {
        stream.pauseReading()
        // Later than now: what is due at once is still served in this turn.
        breather = server.loop.schedule(after: .microseconds(100)) { [unowned self] in stream.resumeReading() }
    }

    private func take(_ event: HTTPRequestParser.Event) {
        switch event {
        case .continueExpected: stream.write(HTTPResponse.continueBytes)
        case .request(var request):
            server.count(\.requests)
            let forwarded = ForwardedSource(
                peer: stream.remoteAddress, isSecure: stream.isTLS || introduction.balancerEndedTLS, headers: request.headers,
                trusted: server.configuration.trustedProxies)
            (request.source, request.isSecure) = (forwarded.source, forwarded.isSecure)
            request.pathPrefix = forwarded.pathPrefix
            deadline.enter(.answering, for: server.configuration.answerTimeout)
            self.request = request
            let exchange = HTTPExchange(connection: self)
            self.exchange = exchange
            server.handler(request, exchange)
        }
    }

    private func becameIdle() {
        request = nil
        idleSince = server.loop.now
        beginTaking(in: .idle)
    }

    /// The client has a while for what it has not taken yet.
    private func beginTaking(in phase: ConnectionDeadline.Phase) {
        deadline.enter(phase, taking: untakenBytes, within: server.configuration.idleTimeout)
    }

    /// What the client has not taken of its answers; none once the kernel has all of them.
    private var untakenBytes: Int { stream.pendingWriteBytes == 0 ? 0 : stream.unacknowledgedBytes }

    // MARK: - Answers

    /// The handler knows how long its answer may take.
    func awaitAnswer(for time: Duration) {
        if phase == .answering { deadline.rearm(after: time) }
    }

    /// Answers the request that is with the handler.
    func answer(_ response: HTTPResponse) {
        guard phase == .answering, let request else { return }
        let isLast = isLast(request, response)
        stream.write(
            server.configuration.completed(response)
                .serialized(answering: request.method, to: request.version, date: server.dateField, isLast: isLast))
        exchange = nil
        if isLast { return finishAnswered() }
        becameIdle()
        goOn()
    }

    /// Begins an event stream as the answer.
    func startEventStream(headers: HTTPHeaders) -> HTTPEventStream? {
        guard phase == .answering, let request else { return nil }
        let response = server.configuration.completed(HTTPEventStream.head(headers))
        stream.write(response.serializedStreamHead(to: request.version, date: server.dateField))
        exchange = nil
        deadline.enter(.streaming, for: HTTPEventStream.keepAliveInterval)
        let events = HTTPEventStream(connection: self, isChunked: request.version != .http10)
        eventStream = events
        return events
    }

    /// Refuses what is no request, or comes too late, and closes.
    private func refuse(_ problem: ProblemDocument) {
        var response = problem.response()
        response.reason = problem.detail  // all that ffmpeg shows
        stream.write(
            server.configuration.completed(response)
                .serialized(answering: .get, date: server.dateField, isLast: true))
        finish()
    }

    /// Lets go after last words.
    func finish() {
        deadline.end()
        stream.closeAfterFlush()
    }

    /// Lets go after the last answer, which the client takes as it takes others.
    private func finishAnswered() {
        beginTaking(in: .closing)
        stream.closeAfterFlush(within: deadline.longestTime)  // it may outlive us, and our timer
    }

    /// Reads on after an answer, once the client has taken most of it.
    private func goOn() {
        guard stream.pendingWriteBytes <= Self.maximumUnsentBytes else { return stream.pauseReading() }
        guard requests.mustBeAskedFor else { return }
        stream.pauseReading()  // what is kept comes again only after a pause
        stream.resumeReading()
    }

    private func isLast(_ request: HTTPRequest, _ response: HTTPResponse) -> Bool {
        !request.keepsConnection || response.closesConnection || server.isDraining || hasPeerFinished
    }

    // MARK: - What happens without the client asking

    private func deadlinePassed() {
        switch deadline.passed(untaken: untakenBytes, hasBegun: requests.hasBegun) {
        case .goesOn: beginTaking(in: phase)
        case .requestIsLate:
            server.count(\.timedOut)
            refuse(ProblemDocument(.requestTimeout, detail: "The request did not arrive whole in time."))
        case .answerIsLate: answerTooLate()
        case .keepsAlive:
            eventStream?.keepAlive()
            deadline.rearm(after: HTTPEventStream.keepAliveInterval)
        case .isSilent:
            // Who has been answered may rest until then: that is nobody's fault.
            if requests.count == 0 { server.count(\.timedOut) }
            close()
        case .isCutOff: close()
        case .rests: break
        }
    }

    private func answerTooLate() {
        server.count(\.timedOut)
        let exchange = exchange
        answer(ProblemDocument(.serviceUnavailable, detail: "The answer took too long.").response(headers: ["Retry-After": "5"]))
        exchange?.cancel()
    }

    private func peerFinished() {
        hasPeerFinished = true
        guard phase != .answering, phase != .closing else { return }
        finishAnswered()  // what was answered is still sent
    }

    private func drained() {
        if phase == .idle || phase == .reading { stream.resumeReading() }
        if isKeptIdle { becameIdle() }  // only now: until then it took its answer
        if phase == .streaming { eventStream?.onDrained() }
    }

    func drain() {
        switch phase {
        case .idle where stream.pendingWriteBytes > 0: finishAnswered()
        case .idle: close()
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
        deadline.end()
        server.remove(self)
        exchange?.cancel()
        events?.cancel()
    }
}
