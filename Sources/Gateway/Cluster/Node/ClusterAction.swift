import Admission
import Wire

/// What a `NodeMachine` wants done. Whoever runs it does so in this order.
enum ClusterAction: Equatable, Sendable {
    /// Asks the server; `NodeMachine.answered` is told the answer, or that there is none.
    case call(ClusterCall)
    case send(NodeMessage, to: String)

    // What becomes of a claim
    case granted(claim: Int, LeaseIdentity, SharedSession)
    /// A session of this node holds it.
    case heldHere(claim: Int)
    /// - Parameter watch: progress of the holder is told under this number until `watchEnded`, for
    ///   `LeaseOwners.watchLifetime` at most.
    case heldElsewhere(claim: Int, watch: Int, progress: MonotonicTime)
    case refused(claim: Int, Refused)

    // What becomes of a lease elsewhere that somebody here waits for
    case progressed(watch: Int, MonotonicTime)
    case gone(watch: Int)

    // What becomes of a lease of this node
    case end(LeaseIdentity, LeaseEnd)
    /// The history says that it left: it goes on under this generation.
    case revive(LeaseIdentity, generation: UInt64)
    /// Another node wants to know about it; answer by `NodeMachine.inspected`.
    case inspect(NodeMessage.Question)

    // What the history has to know
    case closed(stage: String, [EndedLease])
    case sessionEnded(stage: String, sessionID: String)

    /// What is known of a stage that `NodeMachine.look` asked about; nil when it cannot be known.
    case looked(number: Int, ClusterAnswer.StageView?)
    case nodesChanged

    enum Refused: Equatable, Sendable {
        case full
        case inUse
        /// The server does not answer, or nobody knows yet who holds what.
        case away
    }
}
