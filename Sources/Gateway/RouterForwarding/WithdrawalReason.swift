import Refusals

/// Why a router is told that a participant's announce is over, in the words of docs/stage-router.md.
public enum WithdrawalReason: String, Sendable {
    case unpublished, connectionLost, refused, shutdown
    /// Another encoder has the participant's lease; its publication may still take the announce over.
    case takenOver
    /// The stage is at another router.
    case moved

    init(_ end: SessionEnd) {
        self =
            switch end {
            case .closed: .unpublished
            case .connectionLost: .connectionLost
            case .refused: .refused
            case .takenOver: .takenOver
            case .shutdown: .shutdown
            }
    }
}
