import Admission
import EventLoop
import Store
import Wire

/// Those who watch through this node, or want to: carries out what the `AudienceDesk` says. Confined to the loop.
final class LocalAudiences {
    /// Asks for the lease of all who watch on a stage; `granted` or `refused` follows, perhaps from inside this call.
    var claim: (_ stageID: String) -> Void = { _ in }
    var release: (LeaseIdentity) -> Void = { _ in }
    /// The history has just learnt of the session.
    var announce: (StageSession) -> Void = { _ in }

    private let loop: EventLoop
    private let leases: ClusterLeases
    private var desk = AudienceDesk()

    init(loop: EventLoop, _ leases: ClusterLeases) { (self.loop, self.leases) = (loop, leases) }

    /// When `timePassed` has something to do; nil for never.
    var deadline: MonotonicTime? { desk.deadline }

    func timePassed() { perform(desk.timePassed(loop.now)) }

    func started(_ watching: Watching) { perform(desk.started(watching)) }

    func stopped(_ watching: Watching) { perform(desk.stopped(watching)) }

    /// Goes into the stage's running session.
    /// - Parameter view: nil when nothing is known of the stage.
    func refused(_ watching: Watching, _ code: String, _ view: ClusterAnswer.StageView?) {
        guard let view, view.isRecorded, let session = view.session else { return }
        let stageSession = StageSession(stageARN: watching.grant.stageARN, session)
        leases.local.watchRefused(watching, errorCode: code, session: stageSession)
    }

    // MARK: - Leases

    func granted(_ lease: LeaseIdentity, _ session: SharedSession) { perform(desk.granted(lease, session)) }

    func refused(stageID: String) { desk.refused(stageID: stageID, loop.now) }

    /// Whose token was taken away is ended by itself; another of our name may have the lease.
    func end(_ lease: LeaseIdentity, _ end: LeaseEnd) {
        if end == .takenOver { desk.lost(stageID: lease.key.stageID, loop.now) }
    }

    func revive(_ lease: LeaseIdentity) { perform(desk.revived(stageID: lease.key.stageID)) }

    // MARK: - Actions

    private func perform(_ actions: [AudienceDesk.Action]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: AudienceDesk.Action) {
        switch action {
        case .claim(let stage): claim(stage)
        case .release(let lease): release(lease)
        case .start(let watching, let session):
            let session = StageSession(stageARN: watching.grant.stageARN, session)
            if leases.local.watchStarted(watching, session: session) { announce(session) }
        case .stop(let watching): leases.local.watchStopped(watching)
        case .move(let arn, let session):
            let session = StageSession(stageARN: arn, session)
            if leases.local.moveViewers(to: session) { announce(session) }
        }
    }
}
