import Admission
import Refusals
import Store

/// What other threads ask of the node's part in the platform.
enum ClusterOrder: Sendable {
    case claim(Claim)
    case release(PublishLease)
    case end(StageParticipant, Refusal)
    case endAll(stageARN: String, Refusal)
    /// The history knows the stage's session now.
    case announced(stageID: String, sessionID: String)
    case refused(PublishGrant, IngestProtocol, errorCode: String)
    case watchStarted(Watching)
    case watchStopped(Watching)
    case watchRefused(Watching, errorCode: String)
    /// - Parameter isSure: nothing is told where, after a silence of the servers, what others held is still theirs.
    case look(stageARNs: Set<String>, isSure: Bool, @Sendable ([String: ClusterAnswer.StageView]?) -> Void)
    /// Nobody looks any more at the remote holder that goes by this number.
    case watchEnded(Int)
    case stateChanged

    struct Claim: Sendable {
        var grant: PublishGrant
        var ingestProtocol: IngestProtocol
        var holder: any LeaseHolder
        var takesOver: Bool
        var reply: @Sendable (ClaimAnswer) -> Void
    }
}
