public import Admission
import EventLoop
import MediaContract
public import Refusals
import StageHub
import Synchronization
public import WebRTCTransport
public import Wire

/// One WHIP session as every thread may see it: its transport, what the POST fixed, how far its publish has come, its story.
public final class SessionEntry: Sendable {
    struct Content {
        /// Whose publish this one takes over: the address of its POST.
        var incumbent: IPAddress?
        var story = SessionStory()
        /// Nil before the first media.
        var figures: MediaFigures?
        var ending: (reason: SessionEnd, time: MonotonicTime)?
    }

    /// Who owns it, and its side of ICE and DTLS.
    public let transport: TransportState
    /// Whose publish it is, and on which stage.
    public let grant: PublishGrant
    /// What the encoder showed of itself; its token is not kept.
    public let request: PublishRequest
    let offer: AcceptedOffer
    /// Driven by its POST up to the answer, then by the worker that owns the session; ended from any thread.
    let publish: Lock<PublishMachine>
    let context: WHIPContext
    let content: Lock<Content>
    private let progress: Atomic<Int64>

    init(
        transport: TransportState, grant: PublishGrant, request: PublishRequest, offer: AcceptedOffer,
        publish: Lock<PublishMachine>, context: WHIPContext
    ) {
        (self.transport, self.grant, self.request) = (transport, grant, request)
        (self.offer, self.publish, self.context) = (offer, publish, context)
        content = Lock(Content())
        progress = Atomic(transport.createdAt.nanoseconds)
    }

    public var id: String { transport.id }
    /// Where the POST came from.
    public var source: SocketAddress { request.source }
    public var userAgent: String { request.userAgent }
    public var ownership: TransportState.Ownership { transport.ownership }

    /// Why it was ended by our decision.
    var refusal: Refusal? {
        if case .refused(let refusal) = content.withLock({ $0.ending?.reason }) { refusal } else { nil }
    }

    /// A frame was forwarded.
    func progressed(at now: MonotonicTime) { progress.store(now.nanoseconds, ordering: .relaxed) }

    // MARK: - Story

    /// As it is now: a copy.
    public var story: SessionStory { content.withLock { $0.story } }
    /// What its media came to, about a second ago while it lives; nil before the first.
    public var figures: MediaFigures? { content.withLock { $0.figures } }

    /// Where the publish comes from, with its story so far.
    var origin: PublishOrigin {
        PublishOrigin(
            sessionID: id, source: source, userAgent: userAgent,
            steps: story.entries.map { PublishStep($0.step.rawValue, at: $0.time) })
    }

    /// Notes a step once, and counts how long it took.
    public func note(_ step: SessionStory.Step, peer: SocketAddress? = nil) {
        let time = EventLoop.wallNow()
        let elapsed = content.withLock { $0.story.note(step, at: time, peer: peer) }
        if let elapsed { context.metrics.observe(step, elapsed) }
    }
}

extension SessionEntry: TransportEntry {
    public var purpose: TransportPurpose { .publish }
    /// After any DTLS record behind its handshake ffmpeg (8, 9) waits for a datagram of ours before each of its own, and so for
    /// ever after the last. Without one it ends once its checks have gone unanswered for 30 s.
    public var takesCloseNotify: Bool { EncoderFamily(product: userAgent) != .ffmpeg }

    public func reached(_ step: TransportStep, peer: SocketAddress) {
        switch step {
        case .checked:
            content.withLock { $0.story.checks += 1 }
            note(.firstCheck, peer: peer)
        case .claimed:
            context.directory.noLongerPending(self)
            note(.claimed, peer: peer)
        case .handshakeDone: note(.handshakeDone, peer: peer)
        }
    }

    public func checkRejected() { content.withLock { $0.story.rejectedChecks += 1 } }
    public func finish(_ reason: SessionEnd) { context.finish(self, reason) }
}

extension SessionEntry: LeaseHolder {
    public var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }

    public var hasEnded: Bool { ownership == .ended && publish.withLock { $0.lease == nil } }

    public func end(_ reason: LeaseEnd) { context.transport.end(self, reason.sessionEnd) }
}
