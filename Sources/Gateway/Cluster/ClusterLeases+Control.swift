public import Refusals
public import Store
import Wire

/// What the control plane asks and does, wherever a publish lives.
extension ClusterLeases: LeaseControl {
    public func activeSessions(
        ofStages arns: [String], reply: @escaping @Sendable (Result<[String: StageSession], StoreError>) -> Void
    ) {
        look(at: Set(arns), reply) { views in
            views.reduce(into: [:]) { sessions, view in
                guard view.value.isRecorded, let session = view.value.session else { return }
                sessions[view.key] = StageSession(stageARN: view.key, session)
            }
        }
    }

    public func live(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        look(at: Set(participants.map(\.stageARN)), reply) { views in
            participants.filter { views[$0.stageARN]?.participants.contains($0.participantID) == true }
        }
    }

    public func isHeldHere(_ participant: StageParticipant) -> Bool {
        let stage = ResourceName.identifier(inARN: participant.stageARN)
        return local.holder(ofParticipant: participant.participantID, stageID: stage) != nil
    }

    public func end(_ participant: StageParticipant, _ refusal: Refusal) { order(.end(participant, refusal)) }

    public func endAll(ofStage arn: String, _ refusal: Refusal) { order(.endAll(stageARN: arn, refusal)) }

    public func endRevoked() { stateChanged() }

    /// The node looks after them itself (`NodeMachine.idle`).
    public func endIdleSessions() {}

    private func look<Value: Sendable>(
        at stages: Set<String>, _ reply: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        _ make: @escaping @Sendable ([String: ClusterAnswer.StageView]) -> Value
    ) {
        let isOrdered = order(
            .look(stageARNs: stages) { views in
                if let views { reply(.success(make(views))) } else { reply(.failure(.away)) }
            })
        if !isOrdered { reply(.failure(.away)) }
    }
}

extension StageSession {
    init(stageARN: String, _ session: SharedSession) {
        self.init(
            stageARN: stageARN, sessionID: session.id,
            startTime: WallTime(nanosecondsSince1970: session.start.multipliedReportingOverflow(by: 1_000_000).partialValue))
    }
}
