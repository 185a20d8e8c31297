import Admission
import EventLoop
public import Refusals

/// What the control plane asks and does; everything is known here, and answered at once.
extension EmbeddedLeases: LeaseControl {
    public func activeSessions(
        ofStages arns: [String], reply: @escaping @Sendable (Result<[String: StageSession], StoreError>) -> Void
    ) {
        let found = table.withLock { table in
            arns.reduce(into: [String: StageSession]()) { $0[$1] = table.recordedSession(ofStage: $1) }
        }
        reply(.success(found))
    }

    public func live(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        reply(.success(table.withLock { table in participants.filter { table.held[LeaseTable.Key($0)] != nil } }))
    }

    public func isHeldHere(_ participant: StageParticipant) -> Bool {
        table.withLock { $0.held[LeaseTable.Key(participant)] != nil }
    }

    public func end(_ participant: StageParticipant, _ refusal: Refusal) {
        table.withLock { $0.held[LeaseTable.Key(participant)]?.holder }?.end(.disconnected(refusal))
    }

    public func endAll(ofStage arn: String, _ refusal: Refusal) {
        let holders = table.withLock { table in table.held.values.filter { $0.grant.stageARN == arn }.map(\.holder) }
        for holder in holders { holder.end(.disconnected(refusal)) }
    }

    public func endRevoked() {
        let (state, now) = (store.state, wallNow())
        for entry in table.withLock({ Array($0.held.values) }) {
            if let refusal = state.refusal(of: entry.grant, at: now) { entry.holder.end(.disconnected(refusal)) }
        }
    }

    public func endIdleSessions() {
        if relay.withLock({ $0 == nil }) { change { $0.endIdleSessions(now: $1) } }
    }
}

extension EmbeddedLeases {
    /// The running session of a stage, if any of its participants was ever announced.
    public func activeSession(ofStage arn: String) -> StageSession? { table.withLock { $0.recordedSession(ofStage: arn) } }
}

extension LeaseTable.Key {
    init(_ participant: StageParticipant) {
        self.init(
            stageID: ResourceName.identifier(inARN: participant.stageARN), participantID: participant.participantID)
    }
}

extension LeaseTable {
    func recordedSession(ofStage arn: String) -> StageSession? { sessions[arn].flatMap { $0.isRecorded ? $0.record : nil } }
}
