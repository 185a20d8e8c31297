import Admission
import Refusals

/// Answers and orders for one connection, from any thread.
struct WorkerMessage: Sendable {
    enum Content: Sendable {
        case authorized(Result<PublishGrant, Refusal>)
        case claimed(ClaimAnswer)
        /// The lease that the publish waits for was given back.
        case incumbentEnded
        case leaseEnded(LeaseEnd)
    }

    var connection: UInt64
    /// Which of the connection's publishes is meant: an answer may come after that one is over.
    var publish: UInt64
    var content: Content
}
