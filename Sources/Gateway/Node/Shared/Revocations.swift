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

    /// What is taken away at another node, or while a token is just being verified here, is noticed by asking again: each second,
    /// and in between where somebody waits or watches. An idle process sleeps until then.
    func watch(on loop: EventLoop) -> [Watch] {
        let between = loop.schedule(after: Self.interval, tolerance: Self.interval) { [self] in follow() }
        let eachSecond = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [self] in
            follow()
            if isAnybodyThere { between.rearm(after: Self.interval) }
        }
        return [eachSecond, between]
    }

    private var isAnybodyThere: Bool {
        webRTC.whip.map { $0.directory.pendingCount > 0 } == true || webRTC.embedded?.viewers.isEmpty == false
    }

    /// Whether somebody watches as that participant, here or at another node.
    func isWatching(_ participant: StageParticipant) -> Bool {
        let isHere = webRTC.embedded?.viewers.contains {
            $0.participantID == participant.participantID && $0.stageARN == participant.stageARN
        }
        let name = NodeRecord.viewer(participant.participantID, ofStage: participant.stageARN)
        return isHere == true || cluster?.leases.nodes.contains { $0.viewers.contains(name) } == true
    }

    private static let interval = Duration.milliseconds(500)
}
