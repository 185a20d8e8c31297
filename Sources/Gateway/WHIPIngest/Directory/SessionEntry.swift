public import Admission
import EventLoop
public import Refusals
import StageHub
import Synchronization
public import WebRTCTransport
public import Wire

/// One WHIP session as every thread may see it: its transport, what the POST fixed, its lease and its story.
public final class SessionEntry: Sendable {
    struct Content {
        var lease: PublishLease?
        /// Whose publish this one takes over: the address of its POST.
        var incumbent: IPAddress?
        var story = SessionStory()
        /// Nil before the first media.
        var figures: MediaFigures?
        var ending: (reason: SessionEnd, time: MonotonicTime)?
    }

    public let transport: TransportState
    public var id: String { transport.id }
    public let grant: PublishGrant
    /// What the encoder showed at the door.
    public let request: PublishRequest
    /// Where the POST came from.
    public var source: SocketAddress { request.source }
    public var userAgent: String { request.userAgent }
    let offer: AcceptedOffer
    /// Of the offer's settings, by which a changed one is known.
    let offerDigest: String
    let plane: WHIPPlane
    let content: Lock<Content>
    private let progress: Atomic<Int64>

    init(
        transport: TransportState, grant: PublishGrant, request: PublishRequest, offer: AcceptedOffer, offerDigest: String,
        plane: WHIPPlane
    ) {
        (self.transport, self.grant, self.request) = (transport, grant, request)
        (self.offer, self.offerDigest, self.plane) = (offer, offerDigest, plane)
        content = Lock(Content())
        progress = Atomic(transport.createdAt.nanoseconds)
    }

    public var current: TransportState.Ownership { transport.current }

    /// A frame was forwarded.
    func progressed(at now: MonotonicTime) { progress.store(now.nanoseconds, ordering: .relaxed) }

    // MARK: - Story

    public var story: SessionStory { content.withLock { $0.story } }
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
        if let elapsed { plane.metrics.observe(step, elapsed) }
    }
}

extension SessionEntry: TransportEntry {
    public var purpose: TransportPurpose { .publish }

    public func reached(_ step: TransportStep, peer: SocketAddress) {
        switch step {
        case .checked: note(.firstCheck, peer: peer)
        case .claimed:
            plane.directory.noLongerPending(self)
            note(.claimed, peer: peer)
        case .handshakeDone: note(.handshakeDone, peer: peer)
        }
    }

    public func checkRejected() { content.withLock { $0.story.rejectedChecks += 1 } }
    public func finish(_ reason: SessionEnd) { plane.finish(self, reason) }
}

extension SessionEntry: LeaseHolder {
    public var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }

    public var hasEnded: Bool { current == .ended && content.withLock { $0.lease == nil } }

    public func end(_ reason: LeaseEnd) {
        switch reason {
        case .takenOver: plane.transport.end(self, .takenOver)
        case .disconnected(let refusal): plane.transport.end(self, .refused(refusal))
        }
    }
}
