import DTLS
import EventLoop
import OpenSSL
import Refusals
import STUN
import Synchronization
public import Wire

/// The part of a session that its transport needs on every thread: what the POST fixed, who owns it, its credentials.
///
/// It goes pending → owned(worker) → ended, each step by compare-and-swap: a claim, DELETE, expiry and takeover that meet have
/// one winner. Only HTTP, claims and checks from unknown tuples come here; media never does.
public final class TransportState: Sendable {
    /// Who has the session.
    public enum Ownership: Equatable, Sendable {
        /// Nobody yet: no worker has claimed it.
        case pending
        /// - Parameter worker: its index.
        case owned(worker: Int)
        case ended
    }

    private struct Content {
        /// The newest last; older ones hold until the first check with a newer one.
        var credentials: [ICECredentials]
        /// The peer's; see `knows(ufrag:)`.
        var remoteUfrag: String
        /// Why it ended, where its worker could not be told.
        var untoldEnd: SessionEnd?
    }

    /// Unguessable; carries node and process generation.
    public let id: String
    /// When it was made, for the answer to its POST.
    public let createdAt: MonotonicTime
    /// The peer's side of ICE and DTLS, from its offer.
    public let peer: PeerDescription
    /// The one whose fingerprint stands in our answer.
    let certificate: DTLSCertificate
    /// SHA-256 of the bearer token, which PATCH and DELETE must show again.
    private let tokenHash: [UInt8]
    private let content: Lock<Content>
    private let state = Atomic<UInt32>(pendingCode)
    private let heard: Atomic<Int64>
    /// Set by the first worker that waits to claim as DTLS client.
    private let claimScheduled = Atomic<Bool>(false)
    private let finished = Atomic<Bool>(false)
    private let ready = Atomic<Bool>(false)

    init(
        id: String, peer: PeerDescription, certificate: DTLSCertificate, tokenHash: [UInt8], credentials: ICECredentials,
        now: MonotonicTime
    ) {
        (self.id, self.peer, self.certificate, self.tokenHash) = (id, peer, certificate, tokenHash)
        createdAt = now
        content = Lock(Content(credentials: [credentials], remoteUfrag: peer.ufrag))
        heard = Atomic(now.nanoseconds)
    }

    /// Whether the session was made with this token, compared in constant time.
    public func belongs(to token: Secret) -> Bool { ConstantTime.isEqual(Digest.sha256(token.reveal()), tokenHash) }

    // MARK: - Ownership

    /// As it is now: another thread may change it at once.
    public var ownership: Ownership { Self.ownership(state.load(ordering: .acquiring)) }

    /// The index of the worker that owns it; nil when none does.
    public var worker: Int? { if case .owned(let worker) = ownership { worker } else { nil } }

    /// pending → owned; false when it is not pending any more.
    func claim(worker: Int) -> Bool {
        state.compareExchange(
            expected: Self.pendingCode, desired: Self.ownedBase + UInt32(worker), ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Whatever → ended; what it was before tells who has to clean up.
    func markEnded() -> Ownership { Self.ownership(state.exchange(Self.endedCode, ordering: .acquiringAndReleasing)) }

    /// pending → ended; false when somebody owns it or it has ended.
    func endIfPending() -> Bool {
        state.compareExchange(expected: Self.pendingCode, desired: Self.endedCode, ordering: .acquiringAndReleasing).exchanged
    }

    /// Leaves word for a worker whose mailbox is full: it looks here in its next round.
    func leave(_ reason: SessionEnd) { content.withLock { $0.untoldEnd = reason } }

    /// What was left for its worker. Costs one load as long as the session lives.
    var untoldEnd: SessionEnd? { ownership == .ended ? content.withLock { $0.untoldEnd } : nil }

    /// True for the first caller: the one who finishes it.
    func takeFinish() -> Bool { !finished.exchange(true, ordering: .acquiringAndReleasing) }

    /// True for the first caller.
    func scheduleClaim() -> Bool { !claimScheduled.exchange(true, ordering: .acquiringAndReleasing) }

    /// DTLS is done and the keys are in place.
    func becameReady() { ready.store(true, ordering: .releasing) }
    var isReady: Bool { ready.load(ordering: .acquiring) }

    // MARK: - Liveness

    /// Something genuine came from the peer: a check, DTLS, SRTP or SRTCP.
    func heard(at now: MonotonicTime) { heard.store(now.nanoseconds, ordering: .relaxed) }
    var lastHeard: MonotonicTime { MonotonicTime(nanoseconds: heard.load(ordering: .relaxed)) }

    // MARK: - Credentials

    func password(of ufrag: LocalUfrag) -> [UInt8]? {
        content.withLock { $0.credentials.first { $0.ufrag == ufrag }?.password }
    }

    /// Whether a fragment with this ufrag belongs to an ICE session that there is, and restarts nothing. It may be ours too:
    /// VDO.Ninja's player takes it from the answer.
    func knows(ufrag: String) -> Bool {
        content.withLock { content in
            content.remoteUfrag == ufrag || content.credentials.contains { $0.ufrag.description == ufrag }
        }
    }

    var credentials: [ICECredentials] { content.withLock { $0.credentials } }
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

    private static func ownership(_ code: UInt32) -> Ownership {
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

/// Our side of one ICE session (RFC 8839 §5.4); an ICE restart makes new ones.
struct ICECredentials: Sendable, Equatable {
    var ufrag: LocalUfrag
    /// ASCII, 24 ice-chars: 144 bits.
    var password: [UInt8]
    /// The strong entity tag of this ICE session, with its quotes (RFC 9725 §4.3.1).
    var etag: String

    static func make(_ mint: UfragMint) -> ICECredentials {
        let random = Random.bytes(count: 34)
        let seed = random[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let tag = String(hexadecimal: random[8..<16])
        // Base64 of 18 bytes needs no padding, and its whole alphabet is ice-chars.
        let password = Base64.standard.encode(random[16...])
        return ICECredentials(ufrag: mint.mint(random: seed), password: password, etag: "\"\(tag)\"")
    }
}
