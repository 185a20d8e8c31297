import Admission
import Cluster
import EmbeddedRouter
import EventLoop
import Store
import WHIPIngest

/// Ends sessions without a lease when their token is taken away: those that watch, and those that wait.
struct Revocations: Sendable {
    private let webRTC: SharedWebRTC
    private let tokens: TokenVerifier
    private let cluster: ClusterContext?

    init(_ shared: SharedParts, _ membership: Membership) {
        (webRTC, tokens) = (shared.webRTC, shared.admission.tokens)
        cluster = if case .member(let cluster) = membership { cluster } else { nil }
    }

    /// Something was made or deleted here.
    func follow() {
        webRTC.whip?.endPending(refusedBy: tokens)
        webRTC.embedded?.endViewers(refusedBy: tokens)
    }

    /// What is taken away at another node, or while a token is just being verified here, is noticed by asking again.
    func watch(on loop: EventLoop) -> Watch {
        loop.schedule(after: Self.interval, repeating: Self.interval) { [self] in follow() }
    }

    /// Whether somebody watches as that participant, here or at another node.
    func isWatching(_ participant: StageParticipant) -> Bool {
        let isHere = webRTC.embedded?.viewers.contains {
            $0.participantID == participant.participantID && $0.stageARN == participant.stageARN
        }
        let name = "\(ResourceName.identifier(inARN: participant.stageARN))/\(participant.participantID)"
        return isHere == true || cluster?.leases.nodes.contains { $0.viewers.contains(name) } == true
    }

    private static let interval = Duration.milliseconds(500)
}
