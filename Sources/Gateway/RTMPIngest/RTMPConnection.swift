import Admission
import EventLoop
import GatewayLogging
import GatewayMetrics
import HTTP
import Monitoring
import RTMP
import Refusals
import Settings
import StageHub
import Wire

/// One encoder's TCP connection on its worker: bytes in, answers out, deadlines.
///
/// The protocol is `RTMPServerSession`'s, what becomes of a `publish` is `RTMPPublish`'s; here they meet time and transport.
final class RTMPConnection {
    private enum Phase {
        /// What comes before RTMP.
        case introduction
        /// RTMP's.
        case handshake
        case session
        /// The last words are on their way.
        case closing
        case closed
    }

    let id: UInt64
    /// Keeps its connections until it forgets them, and so outlives them.
    unowned let ingest: RTMPIngest
    let transport: any ConnectionTransport
    /// What logs, the API and the console tell of it.
    private(set) var story: ConnectionStory
    /// The latest publish; its answers may come when it is over.
    private(set) var publish: RTMPPublish?
    /// Ends the connection when nothing better has replaced it by then.
    private var deadline: TimerWatch?
    /// The ingest's, at hand for every read and message.
    private let loop: EventLoop
    private let receivedBytes: Counter
    private let accepted: MonotonicTime
    private var introduction: RTMPIntroduction
    private var phase = Phase.introduction
    private var session: RTMPServerSession
    private var publishCount: UInt64 = 0
    /// Each costs a lease, a place at the routers and lines of the log, and with a good key nothing else bounds them.
    private var publishes = Allowance(maximumPublishesAtOnce, then: .seconds(1))

    init(id: UInt64, ingest: RTMPIngest, transport: any ConnectionTransport, beginsWithProxyHeader: Bool) {
        (self.id, self.ingest, self.transport) = (id, ingest, transport)
        (loop, receivedBytes) = (ingest.loop, ingest.metrics.receivedBytes)
        story = ConnectionStory(of: transport.remoteAddress)
        accepted = loop.now
        introduction = RTMPIntroduction(beginsWithProxyHeader: beginsWithProxyHeader)
        session = RTMPServerSession(crypto: .openSSL, pool: ingest.messageBuffers)
        setDeadline(after: ingest.settings.handshakeTimeout)
    }

    /// The encoder, or what a balancer said of it.
    var source: SocketAddress { story.source }
    var isLive: Bool { publish?.live != nil }
    /// As the encoder speaks it, to us or to a balancer that we trust.
    private var ingestProtocol: IngestProtocol { transport.isTLS || introduction.balancerEndedTLS ? .rtmps : .rtmp }
    /// What its unfinished messages make us keep.
    var partialByteCount: Int { session.partialByteCount }
    private var settings: RTMPSettings { ingest.settings }

    // MARK: - Bytes

    /// Takes bytes as they lie in the loop's buffer.
    /// - Returns: how many were consumed; the rest is to be given again, at once where some were, else with what follows.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count =
            switch phase {
            case .introduction: unsafe readIntroduction(bytes)
            case .handshake, .session: unsafe readSession(bytes)
            case .closing, .closed: bytes.count
            }
        receivedBytes.increment(by: count)
        return count
    }

    private func readIntroduction(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch unsafe introduction.receive(bytes.bytes, isTLS: transport.isTLS) {
        case .wait: return 0
        case .takeHeader(let header):
            if let client = header.source { (story.source, transport.remoteAddress) = (client, client) }
            if ingest.admit(self) { return header.byteCount }
        case .startTLS:
            if transport.startTLS() { return 0 }
            story.log(.info, "rtmp_tls_not_configured")
        case .beginSession:
            phase = .handshake
            return unsafe readSession(bytes)
        case .close(let error):
            ingest.metrics.headless.increment()
            story.log(
                .warning, "rtmp_proxy_header_missing",
                [
                    "reason": .error(error),
                    "hint": "RTMP from trustedProxies begins with a PROXY header, version 2 (HAProxy: send-proxy-v2)",
                ])
        }
        end(.connectionLost)
        return bytes.count
    }

    /// What follows an unanswered `publish` stays with the transport, which is paused until then.
    private func readSession(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        session.isHeard = transport.pendingWriteByteCount == 0
        do throws(RTMPError) {
            while let event = try unsafe session.nextEvent(in: bytes, at: &offset) {
                handshakeCompleted()
                take(event)
                guard case .session = phase else { return bytes.count }
            }
        } catch {
            failed(error)
            return bytes.count
        }
        if case .handshake = phase, session.isHandshakeComplete { handshakeCompleted() }
        if !isLive { ingest.countBytes(of: self) }
        answer()
        return offset
    }

    /// Sends the answers to what was asked. A peer that asks and never reads is left alone.
    private func answer() {
        guard session.hasOutput else { return }
        flush()
        if case .closed = phase { return }
        guard transport.pendingWriteByteCount > Self.maximumPendingWriteByteCount else { return }
        story.log(.info, "rtmp_peer_does_not_read")
        end(.connectionLost)
    }

    /// Sends what the session has to say. It ends nothing: whoever calls, a publish most often, has more to do here.
    private func flush() {
        if case .closed = phase { return }
        if session.hasOutput { transport.write(session.takeOutput()) }
    }

    private func failed(_ error: RTMPError) {
        let refusal = error.refusal
        ingest.metrics.count(refusal)
        story.log(
            .info, "rtmp_protocol_error",
            ["code": .string(refusal.code.identifier), "reason": .string(error.explanation)])
        if error == .httpRequest {
            transport.write(Self.httpAnswer)
            close(lingering: true)
        } else if !session.isHandshakeComplete {
            end(.connectionLost)
        } else if let publish, isLive {
            publish.refuse(refusal)
        } else {
            // Who has not even said `connect` is no encoder that anybody would look for among those turned away.
            if session.isConnected { turnAway(refusal, of: nil) } else { reject(refusal) }
            close(lingering: true)
        }
    }

    // MARK: - Events

    private func take(_ event: RTMPEvent) {
        switch event {
        case .connect(let request):
            // What speaks against it is said to its publish: OBS shows nobody why a connect is refused.
            story.connected(by: request.flashVersion)
            session.acceptConnect()
        case .publish(let target): publishRequested(target)
        case .video(let media): received(media, of: .video)
        case .audio(let media): received(media, of: .audio)
        case .data(let media): unsafe publish?.live?.pipeline.receiveData(media.payload)
        case .unpublished:
            publish?.end(.closed)
            setDeadline(after: settings.publishTimeout)
        }
    }

    private func received(_ media: RTMPMedia, of kind: MediaKind) {
        guard let publish, let live = publish.live else { return }
        let now = loop.now
        live.lastMedia = now
        let refusal = unsafe live.pipeline.receive(media.payload, of: kind, timestamp: media.timestamp, arrival: now)
        if let refusal { publish.refuse(refusal) }
    }

    /// Deciding takes its time, which is not the encoder's.
    private func publishRequested(_ target: PublishTarget) {
        story.note(.publishRequested)
        publishCount += 1
        let request = PublishRequest(
            credential: .streamKey(Secret(target.keys[0])), ingestProtocol: ingestProtocol, source: source,
            userAgent: story.userAgent)
        let publish = RTMPPublish(publishCount, on: self, keys: target.keys, request)
        self.publish = publish
        guard publishes.take(at: loop.now) else {
            return publish.refuse(Refusal(.tooManyRequests, sentence: Self.tooManyPublishes))
        }
        if target.asksForPasswordScheme { return publish.refuse(Refusal(.unsupportedAuthentication)) }
        if target.application != Self.applicationName { return publish.refuse(Refusal(.unknownApplication)) }
        publish.begin()
        guard publish.isPending else { return }
        transport.pauseReading()
        deadline = loop.schedule(after: settings.decisionTimeout) { [unowned publish] in
            publish.refuse(Refusal(.authorityUnavailable))
        }
    }

    // MARK: - What its publish has to say

    /// The stream key is good.
    func authorized() { story.authorized() }

    /// The publish is live: media may come.
    func acceptPublish(of participantID: String) {
        deadline = nil
        story.log(.info, "rtmp_publish_granted", ["participant": .string(participantID), "agent": .string(story.userAgent)])
        session.acceptPublish()
        flush()
        transport.resumeReading()
    }

    /// Tells the encoder why it may not publish, or not any longer, and everybody who asks later.
    /// - Parameters:
    ///   - grant: whose credential it was, when that is known.
    ///   - credentialHash: tells the key from others, when it is not.
    ///   - session: the publish that was live until now.
    func turnAway(
        _ refusal: Refusal, of grant: PublishGrant?, credentialHash: String? = nil, session: String? = nil
    ) {
        var fields: LogFields = [
            "code": .string(refusal.code.identifier), "sentence": .string(refusal.sentence), "agent": .string(story.userAgent),
        ]
        if let credentialHash { fields["credentialHash"] = .string(credentialHash) }
        story.log(.info, "rtmp_publish_refused", fields)
        var attempt = RefusedAttempt(
            refusal, of: grant, by: ingestProtocol, from: source, userAgent: story.userAgent,
            wasLive: session != nil, sessionID: session)
        attempt.credentialHash = credentialHash
        ingest.environment.board.note(attempt)
        reject(refusal)
    }

    /// Words that the encoder's user will see; before `connect`, its log.
    func reject(_ refusal: Refusal) {
        session.rejectPublish(code: refusal.code.rtmp.rawValue, description: refusal.text)
        flush()
    }

    /// Asks the encoder of a live publish to connect anew, if it can.
    func requestReconnect() {
        guard isLive, session.requestReconnect(description: "This gateway is draining.") else { return }
        flush()
    }

    /// Called once a second while a publish is live.
    func pingIfDue() {
        let now = loop.now
        guard now.nanoseconds / 1_000_000_000 % Self.pingInterval == 0 else { return }
        // An encoder that waits for an acknowledgement sends nothing by which that would be seen.
        session.isHeard = transport.pendingWriteByteCount == 0
        session.ping(stamp: UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000))
        flush()
    }

    // MARK: - Time

    private func setDeadline(after delay: Duration) {
        deadline = loop.schedule(after: delay) { [unowned self] in deadlinePassed() }
    }

    private func deadlinePassed() {
        guard case .session = phase else {
            story.log(.info, "rtmp_handshake_timeout")
            return end(.connectionLost)
        }
        // Who has not even said `connect` would not understand, and who has published was not turned away: it has stopped.
        guard session.isConnected, publish == nil else {
            story.log(.info, "rtmp_publish_timeout")
            return end(.connectionLost)
        }
        turnAway(Refusal(.publishTimeout), of: nil)
        close(lingering: true)
    }

    /// The handshake is complete: what is left of the time to publish counts from accepting.
    private func handshakeCompleted() {
        guard case .handshake = phase else { return }
        phase = .session
        story.note(.handshakeDone)
        deadline?.rearm(after: max(.zero, settings.publishTimeout - (loop.now - accepted)))
    }

    // MARK: - Ends

    /// The peer is gone, or is to be gone at once.
    func end(_ reason: SessionEnd) {
        publish?.end(reason)
        close(lingering: false)
    }

    /// Lets the last words reach the peer, or not.
    func close(lingering: Bool) {
        if case .closed = phase { return }
        publish?.end(.connectionLost)
        deadline = nil
        guard lingering else {
            phase = .closed
            transport.close()
            return ingest.forget(self)
        }
        if case .closing = phase { return }
        phase = .closing
        transport.resumeReading()
        transport.closeAfterFlush(lingering: settings.lingering)
    }

    /// The transport has closed, whoever wanted it.
    func transportClosed() {
        publish?.peerLeft()
        if case .closed = phase { return }
        deadline = nil
        phase = .closed
        ingest.forget(self)
    }

    // MARK: - Constants

    /// More unread answers than this are not gathered for a peer that floods us with questions.
    private static let maximumPendingWriteByteCount = 64 << 10
    /// The application of the URL that the API hands out (`rtmp://…/app/`).
    private static let applicationName = "app"
    /// Of one connection, and then one in each second.
    static let maximumPublishesAtOnce = 20
    private static let tooManyPublishes = "This connection has begun too many publishes: connect again in a moment."
    /// Seconds.
    private static let pingInterval: Int64 = 30
    /// To whoever took the port for one of HTTP.
    private static let httpAnswer: [UInt8] = {
        let body = "This port takes RTMP and RTMPS from encoders, not HTTP. WHIP has a port of its own.\n"
        let head = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
        return Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }()
}
