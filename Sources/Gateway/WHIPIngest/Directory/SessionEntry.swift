import StageHub
public import Admission
import DTLS
import EventLoop
import STUN
import Synchronization
public import Wire

/// One WHIP session as every thread may see it: what the POST fixed, who owns it, its credentials and its story.
///
/// It goes pending → owned(worker) → ended, each step by compare-and-swap: a claim, DELETE, expiry and takeover that meet have
/// one winner. Only HTTP, claims and checks from unknown tuples come here; media never does.
public final class SessionEntry: Sendable {
    public enum State: Equatable, Sendable {
        case pending
        case owned(worker: Int)
        case ended
    }

    struct Content {
        /// The newest last; older ones hold until the first check with a newer one.
        var credentials: [ICECredentials]
        /// The peer's, by which a PATCH is trickle or restart.
        var remoteUfrag: String
        var lease: PublishLease?
        /// Whose publish this one takes over: the address of its POST.
        var incumbent: IPAddress?
        var story = SessionStory()
    }

    /// Unguessable; carries node and process generation.
    public let id: String
    public let grant: PublishGrant
    /// What the encoder showed at the door.
    public let request: PublishRequest
    /// Where the POST came from.
    public var source: SocketAddress { request.source }
    public var userAgent: String { request.userAgent }
    public let createdAt: MonotonicTime
    let offer: AcceptedOffer
    /// Of the offer's settings, by which a changed one is known.
    let offerDigest: String
    let certificate: DTLSCertificate
    /// SHA-256 of the bearer token, which PATCH and DELETE must show again.
    let tokenHash: [UInt8]
    let plane: WHIPPlane
    let content: Lock<Content>
    private let state = Atomic<UInt32>(pendingCode)
    private let heard: Atomic<Int64>
    private let progress: Atomic<Int64>
    /// Set by the first worker that waits to claim as DTLS client.
    private let claimScheduled = Atomic<Bool>(false)

    init(
        id: String, grant: PublishGrant, request: PublishRequest, offer: AcceptedOffer, offerDigest: String,
        certificate: DTLSCertificate, tokenHash: [UInt8], credentials: ICECredentials, plane: WHIPPlane, now: MonotonicTime
    ) {
        (self.id, self.grant, self.request) = (id, grant, request)
        (self.offer, self.certificate, self.tokenHash, self.plane) = (offer, certificate, tokenHash, plane)
        self.offerDigest = offerDigest
        createdAt = now
        content = Lock(Content(credentials: [credentials], remoteUfrag: offer.remoteUfrag))
        heard = Atomic(now.nanoseconds)
        progress = Atomic(now.nanoseconds)
    }

    // MARK: - Ownership

    public var current: State { Self.state(state.load(ordering: .acquiring)) }

    /// pending → owned; false when it is not pending any more.
    func claim(worker: Int) -> Bool {
        state.compareExchange(
            expected: Self.pendingCode, desired: Self.ownedBase + UInt32(worker), ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Whatever → ended; what it was before tells who has to clean up.
    func markEnded() -> State { Self.state(state.exchange(Self.endedCode, ordering: .acquiringAndReleasing)) }

    /// pending → ended; false when somebody owns it or it has ended.
    func endIfPending() -> Bool {
        state.compareExchange(expected: Self.pendingCode, desired: Self.endedCode, ordering: .acquiringAndReleasing).exchanged
    }

    /// True for the first caller.
    func scheduleClaim() -> Bool { !claimScheduled.exchange(true, ordering: .acquiringAndReleasing) }

    // MARK: - Liveness

    /// Something genuine came from the peer: a check, DTLS, SRTP or SRTCP.
    func heard(at now: MonotonicTime) { heard.store(now.nanoseconds, ordering: .relaxed) }
    var lastHeard: MonotonicTime { MonotonicTime(nanoseconds: heard.load(ordering: .relaxed)) }
    /// A frame was forwarded.
    func progressed(at now: MonotonicTime) { progress.store(now.nanoseconds, ordering: .relaxed) }

    // MARK: - Credentials

    func password(of ufrag: LocalUfrag) -> [UInt8]? {
        content.withLock { $0.credentials.first { $0.ufrag == ufrag }?.password }
    }

    var remoteUfrag: String { content.withLock { $0.remoteUfrag } }
    var newestCredentials: ICECredentials? { content.withLock { $0.credentials.last } }

    /// Adds the credentials of an ICE restart; returns those that are forgotten because too many were asked for.
    func add(_ credentials: ICECredentials, remoteUfrag: String) -> [ICECredentials] {
        content.withLock { content in
            content.remoteUfrag = remoteUfrag
            content.credentials.append(credentials)
            let surplus = max(0, content.credentials.count - Self.maximumCredentials)
            let forgotten = Array(content.credentials.prefix(surplus))
            content.credentials.removeFirst(surplus)
            return forgotten
        }
    }

    /// A check with `ufrag` was genuine: older credentials end. Returns them.
    func confirm(_ ufrag: LocalUfrag) -> [ICECredentials] {
        content.withLock { content in
            guard let index = content.credentials.firstIndex(where: { $0.ufrag == ufrag }), index > 0 else { return [] }
            let old = Array(content.credentials[..<index])
            content.credentials.removeFirst(index)
            return old
        }
    }

    // MARK: - Story

    public var story: SessionStory { content.withLock { $0.story } }

    /// Notes a step once, and counts how long it took.
    public func note(_ step: SessionStory.Step, peer: SocketAddress? = nil) {
        let time = EventLoop.wallNow()
        let elapsed = content.withLock { $0.story.note(step, at: time, peer: peer) }
        if let elapsed { plane.metrics.observe(step, elapsed) }
    }

    private static func state(_ code: UInt32) -> State {
        switch code {
        case pendingCode: .pending
        case endedCode: .ended
        default: .owned(worker: Int(code - ownedBase))
        }
    }

    private static let pendingCode: UInt32 = 0
    private static let endedCode: UInt32 = 1
    private static let ownedBase: UInt32 = 2
    /// Restarts that overlap; more than this without a check is a client's error.
    private static let maximumCredentials = 4
}

extension SessionEntry: LeaseHolder {
    public var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }

    public var hasEnded: Bool { current == .ended && content.withLock { $0.lease == nil } }

    public func end(_ reason: LeaseEnd) {
        switch reason {
        case .takenOver: plane.end(self, .takenOver)
        case .disconnected(let refusal): plane.end(self, .refused(refusal))
        }
    }
}
