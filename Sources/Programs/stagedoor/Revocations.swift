import Admission
import EmbeddedRouter
import EventLoop
import Store
import WHIPIngest

/// What happens to sessions without a lease when their token is taken away: those that watch, and those that wait.
extension NodeServices {
    /// What is taken away at another node, or while a token is just being verified here, is noticed by asking again.
    private static let revocationInterval = Duration.milliseconds(500)

    func endRevoked() {
        whip?.endPending(refusedBy: tokens)
        embedded?.endViewers(refusedBy: tokens)
    }

    func watchRevocations(on loop: EventLoop) -> TimerWatch {
        loop.schedule(after: Self.revocationInterval, repeating: Self.revocationInterval) { [self] in endRevoked() }
    }

    /// Whether somebody watches as that participant, here or at another node.
    var isWatching: @Sendable (StageParticipant) -> Bool {
        { [embedded, cluster] participant in
            let isHere = embedded?.viewers.contains {
                $0.participantID == participant.participantID && $0.stageARN == participant.stageARN
            }
            let name = "\(ResourceName.identifier(inARN: participant.stageARN))/\(participant.participantID)"
            return isHere == true || cluster?.leases.nodes.contains { $0.viewers.contains(name) } == true
        }
    }
}
