import EventLoop
import GatewayLogging
import GatewayMetrics
import Monitoring
import OpenSSL
import RTMP
import Refusals
import Settings
import StageHub
import Wire

/// One encoder's TCP connection on its worker: bytes in, answers out, deadlines, and the way from `publish` to a live publish.
///
/// The protocol is `RTMPServerSession`'s, the media `RTMPPublishPipeline`'s; here they meet time, transport and the lease.
final class RTMPConnection {
    enum Stage {
        /// A trusted balancer must say first for whom it speaks.
        case awaitingPROXYHeader
        /// The first byte tells RTMP, TLS and strays apart.
        case sniffing
        case session
        /// The last words are on their way.
        case closing
        case closed
    }

    /// More unread answers than this are not gathered for a peer that floods us with questions.
    static let maximumPendingWriteByteCount = 64 << 10
    static let maximumUserAgentByteCount = 256

    let id: UInt64
    /// Tells this connection from all others in logs, in the API and on the console.
    let sessionID: String
    unowned let ingest: RTMPIngest
    /// The ingest's, at hand for every read and message.
    let loop: EventLoop
    let receivedBytes: Counter
    let transport: any ConnectionTransport
    /// The encoder, or what a balancer said of it.
    var source: SocketAddress
    var stage: Stage
    var session: RTMPServerSession
    var userAgent = ""
    /// It counts among the connections that have not published, under this address.
    var admittedAddress: IPAddress?
    /// What the process's count knows of this connection's unfinished messages.
    var countedByteCount = 0
    var attempt: PublishAttempt?
    var live: LivePublish? {
        didSet { transport.carriesMedia = live != nil }
    }
    var publishCount: UInt64 = 0
    /// Nobody has shown a valid stream key here yet.
    var isStranger = true
    var deadline: TimerWatch?
    private let accepted: MonotonicTime
    private(set) var isHandshakeOver = false
    /// What happened so far, until a publish is granted.
    private(set) var steps: [PublishStep] = []

    init(id: UInt64, ingest: RTMPIngest, transport: any ConnectionTransport) {
        (self.id, self.ingest, self.transport) = (id, ingest, transport)
        (loop, receivedBytes) = (ingest.loop, ingest.metrics.receivedBytes)
        source = transport.remoteAddress
        sessionID = String(hexadecimal: Random.bytes(count: 8))
        accepted = ingest.loop.now
        stage = ingest.isTrustedProxy(source.ip) ? .awaitingPROXYHeader : .sniffing
        session = RTMPServerSession(
            crypto: HandshakeCrypto(
                hmacSHA256: { HMAC.sha256(key: $0, $1) }, randomBytes: { Random.bytes(count: $0) }),
            pool: ingest.messageBuffers)
        setDeadline(after: ingest.settings.handshakeTimeout)
        note("accepted")
    }

    /// Notes a step of the session's story; a second publish of one connection begins where the first one did.
    func note(_ step: String) {
        steps.removeAll { $0.name == step }
        steps.append(PublishStep(step, at: EventLoop.wallNow()))
    }

    var settings: RTMPSettings { ingest.settings }

    /// Ends the connection when nothing better has replaced this deadline by then.
    func setDeadline(after delay: Duration) {
        deadline = ingest.loop.schedule(after: delay) { [unowned self] in deadlinePassed() }
    }

    private func deadlinePassed() {
        guard case .session = stage, isHandshakeOver else {
            log(.info, "rtmp_handshake_timeout")
            return end(.connectionLost)
        }
        // Who has not even said `connect` would not understand.
        guard session.isConnected else {
            log(.info, "rtmp_publish_timeout")
            return end(.connectionLost)
        }
        refuse(Refusal(.publishTimeout))
    }

    /// The handshake is complete: what is left of the time to publish counts from accepting.
    func handshakeCompleted() {
        guard !isHandshakeOver else { return }
        isHandshakeOver = true
        note("handshakeDone")
        setDeadline(after: max(.zero, settings.publishTimeout - (ingest.loop.now - accepted)))
    }

    /// Lines of a connection that has shown no valid stream key are a stranger's, and limited.
    func log(_ level: LogLevel, _ event: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        let all = { LogFields(dictionaryLiteral: ("session", .string(self.sessionID)), ("source", .address(self.source))) }
        guard isStranger else { return Log.event(level, event.description, all().adding(fields())) }
        Log.strangerEvent(level, event, all().adding(fields()))
    }
}
