public import Refusals
public import Wire

/// What a session is for: each worker makes its own kind of session for it.
public enum TransportPurpose: Sendable, Hashable { case publish, subscribe }

/// A session as every thread may see it: a WHIP publisher or a WHEP subscriber, by what both have in common.
public protocol TransportEntry: AnyObject, Sendable {
    var transport: TransportState { get }
    var purpose: TransportPurpose { get }
    /// Whether close_notify is the way to tell the peer of an end.
    var takesCloseNotify: Bool { get }
    /// A step of the way to media was reached; told again when it is reached again.
    func reached(_ step: TransportStep, peer: SocketAddress)
    /// A check with one of its ufrags came whose integrity was wrong.
    func checkRejected()
    /// The last step, after its worker has let go of it, or nobody ever owned it. Called once, by `finishOnce`.
    func finish(_ reason: SessionEnd)
}

extension TransportEntry {
    public var takesCloseNotify: Bool { true }

    /// Finishes the session unless that is done: DELETE, expiry and its worker may meet here.
    func finishOnce(_ reason: SessionEnd) {
        if transport.takeFinish() { finish(reason) }
    }
}

/// The steps that every session takes before its media.
public enum TransportStep: Sendable {
    /// A connectivity check with the right password came.
    case checked
    /// DTLS began on the tuple that carries the session.
    case claimed
    case handshakeDone
}

/// What a session does with its transport: a publisher receives media, a subscriber sends it. Confined to the owning worker.
public protocol TransportSession: AnyObject {
    /// Whether `sendFeedback` is wanted every 10 ms, not only every 50.
    var isMissingPackets: Bool { get }
    /// DTLS is done, the fingerprint fits, the keys are in place.
    func transportReady()
    /// One plain RTP packet, where it was received: its bytes stay until `flush` when the session asked to `gather`.
    func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime)
    /// One plain RTCP compound.
    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime)
    /// The batch of datagrams ends, after a `gather`.
    func flush()
    /// Every 100 ms: whether it goes on, and what else takes time to show.
    func look(at now: MonotonicTime)
    /// Every 50 ms, after a `look` where one is due.
    func sendFeedback(at now: MonotonicTime)
    /// The last call, once.
    func transportEnded(_ reason: SessionEnd)
}

/// Who sends media has nothing to ask for.
extension TransportSession {
    public var isMissingPackets: Bool { false }
    public func sendFeedback(at now: MonotonicTime) {}
}

/// Makes the sessions of one purpose on one worker.
public protocol TransportSessionMaker: AnyObject {
    /// A worker claimed `entry`, whose purpose is this maker's.
    func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession
}
