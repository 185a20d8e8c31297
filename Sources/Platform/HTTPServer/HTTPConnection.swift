import EventLoop
import HTTP
import OpenSSL
import Sockets
import Wire

/// One connection of a server: bytes to requests, answers to bytes, and one deadline at a time.
final class HTTPConnection {
    enum Phase {
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

    unowned let server: HTTPServer
    /// The server's name for it; rises with every one.
    let number: UInt64
    let stream: TCPStream
    private let tls: TLSContext?
    var parser: HTTPRequestParser
    var phase = Phase.idle
    var timer: TimerWatch?
    private var breather: TimerWatch?
    /// The address whose share this connection counts against; nil for a balancer that has not told us yet.
    private(set) var countedAddress: IPAddress?
    private(set) var idleSince: MonotonicTime
    var request: HTTPRequest?
    weak var exchange: HTTPExchange?
    weak var eventStream: HTTPEventStream?
    var answeringSince: MonotonicTime
    var hasPeerFinished = false
    private var requestCount = 0
    private var turn = (moment: MonotonicTime.zero, requests: 0)
    /// Whether the stream holds bytes that it must be asked to deliver again.
    var hasWaitingBytes = false
    var isParsing = false

    init(server: HTTPServer, number: UInt64, accepted: AcceptedConnection, tls: TLSContext?, isProxy: Bool) {
        (self.server, self.number, self.tls) = (server, number, tls)
        let plain = AcceptedConnection(
            descriptor: accepted.descriptor, remoteAddress: accepted.remoteAddress, localAddress: accepted.localAddress)
        stream = TCPStream(loop: server.loop, accepted: plain)
        let configuration = server.configuration
        parser = HTTPRequestParser(limits: configuration.limits, maximumBodyLength: configuration.maximumBodyLength)
        countedAddress = isProxy ? nil : accepted.remoteAddress.ip
        if isProxy { phase = .awaitingProxyHeader }
        (idleSince, answeringSince) = (server.loop.now, server.loop.now)
    }

    deinit {
        // A stream that is saying goodbye outlives us.
        stream.onClosed = { _ in }
        unsafe stream.onBytes = { $0.count }
        stream.onDrained = {}
        stream.onPeerFinished = nil
    }

    /// A kept connection between two requests.
    var isKeptIdle: Bool { phase == .idle && requestCount > 0 && parser.isIdle }

    /// Nothing whole has come yet.
    var isNewcomer: Bool { requestCount == 0 && phase != .closing }

    func start() {
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
            answeringSince = server.loop.now
            timer?.rearm(after: server.configuration.answerTimeout)
            self.request = request
            let exchange = HTTPExchange(connection: self)
            self.exchange = exchange
            server.handler(request, exchange)
        }
    }

    func becameIdle() {
        (phase, request) = (.idle, nil)
        idleSince = server.loop.now
        timer?.rearm(after: server.configuration.idleTimeout)
    }
}
