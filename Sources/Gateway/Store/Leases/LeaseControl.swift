public import Admission
public import Refusals

/// The leases as the control plane asks of them and acts on them: of one gateway, or of all gateways of a platform.
///
/// What is asked is answered on any thread, exactly once, with `StoreError.away` where it cannot be known now. What ends is
/// ended wherever it lives; these calls return at once, and the holder's worker carries them out.
public protocol LeaseControl: PublishLeases, PublishReports, ViewerReports {
    /// Running stage sessions by stage ARN, of those stages any of whose participants was ever announced.
    func activeSessions(
        ofStages arns: [String], reply: @escaping @Sendable (Result<[String: StageSession], StoreError>) -> Void)
    /// Those of the participants that hold a lease now, at whatever node.
    func live(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void)
    /// The same for whoever ends something because a participant is missing: `StoreError.away` also while one that lives may have
    /// had no chance to say so.
    func surelyLive(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void)
    /// Whether a session of this process holds the participant's lease; never waits.
    func isHeldHere(_ participant: StageParticipant) -> Bool
    /// Whether a process before this one holds it, which hears nothing but that it has to end; never waits.
    func isHeldByFormerProcess(_ participant: StageParticipant) -> Bool
    /// Ends the participant's publish, if there is one.
    func end(_ participant: StageParticipant, _ refusal: Refusal)
    func endAll(ofStage arn: String, _ refusal: Refusal)
    /// Ends the publishes whose credential was taken away.
    func endRevoked()
    /// Ends the stage sessions whose last publisher or viewer left long enough ago. Called about once a second.
    func endIdleSessions()
}

extension LeaseControl {
    /// Nodes of a cluster have no process before them.
    public func isHeldByFormerProcess(_ participant: StageParticipant) -> Bool { false }

    /// What this process holds it knows at once.
    public func surelyLive(
        among participants: Set<StageParticipant>, reply: @escaping @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void
    ) {
        live(among: participants, reply: reply)
    }
}

extension IngestConfiguration {
    /// Who publishes with its stream keys: nobody while they belong to no stage.
    public var publishers: Set<StageParticipant> {
        stageARN.isEmpty ? [] : Set(credentials.map { StageParticipant($0.participantID, of: stageARN) })
    }
}
