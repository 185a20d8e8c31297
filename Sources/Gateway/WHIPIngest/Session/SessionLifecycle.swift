import Refusals
import WebRTCTransport

/// The life of one owned WHIP session (RFC 9725 §4.2, §4.5; docs/design.md 7.3). Pure: no clock, no I/O.
struct SessionLifecycle: ~Copyable {
    enum Action: Equatable {
        case none
        /// Keys are good and this session has or takes the right to publish.
        case claimLease(takesOver: Bool)
        case startForwarding
        case tearDown(SessionEnd)
    }

    private enum State { case handshaking, awaitingLease, live, closed }
    private var state = State.handshaking

    var isClosed: Bool { state == .closed }
    var isLive: Bool { state == .live }
    var isHandshaking: Bool { state == .handshaking }

    /// DTLS is done and the fingerprint fits.
    /// - Parameter hasLease: the POST was granted it; otherwise an incumbent has it, who forwards until now.
    mutating func handshakeCompleted(hasLease: Bool) -> Action {
        guard state == .handshaking else { return .none }
        if hasLease {
            state = .live
            return .startForwarding
        }
        state = .awaitingLease
        return .claimLease(takesOver: true)
    }

    mutating func leaseGranted() -> Action {
        guard state == .awaitingLease else { return .none }
        state = .live
        return .startForwarding
    }

    mutating func ended(_ reason: SessionEnd) -> Action {
        guard state != .closed else { return .none }
        state = .closed
        return .tearDown(reason)
    }
}
