public import Refusals
public import Wire

/// What a session is for: each worker makes its own kind of session for it.
public enum TransportPurpose: Sendable, Hashable { case publish, subscribe }

/// A session as every thread may see it: a WHIP publisher or a WHEP subscriber, by what both have in common.
public protocol TransportEntry: AnyObject, Sendable {
    var transport: TransportState { get }
    var purpose: TransportPurpose { get }
    /// A step of the way to media was reached; told again when it is reached again.
    func reached(_ step: TransportStep, peer: SocketAddress)
    /// A check with one of its ufrags came whose integrity was wrong.
    func checkRejected()
    /// The last step, after its worker has let go of it, or nobody ever owned it. Called once, by `conclude`.
    func finish(_ reason: SessionEnd)
}

extension TransportEntry {
    /// Finishes the session, once: DELETE, expiry and its worker may meet here.
    public func conclude(_ reason: SessionEnd) {
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
