public import Wire

/// A participant's part in replications (`ReplicationType`, `ReplicationState` of the API model).
public struct ParticipantReplication: Codable, Equatable, Sendable {
    public enum Part: String, Codable, Sendable {
        case source = "SOURCE"
        case replica = "REPLICA"
    }

    public var part: Part
    public var isActive: Bool
    /// Empty for the source itself.
    public var sourceStageARN: String
    public var sourceSessionID: String

    public init(_ part: Part, isActive: Bool, sourceStageARN: String = "", sourceSessionID: String = "") {
        (self.part, self.isActive) = (part, isActive)
        (self.sourceStageARN, self.sourceSessionID) = (sourceStageARN, sourceSessionID)
    }

    /// As the API names it.
    public var stateName: String { isActive ? "ACTIVE" : "STOPPED" }
}

/// What the history is told of a replication.
extension Replication {
    /// It goes on in these sessions, and no longer in those of `before`, which its window may have outlived.
    public func activeWrites(after before: Replication, at now: WallTime) -> [HistoryWrite] {
        let writes = standing(isSourceActive: true, isActive: true)
        if before.state == .starting { return [event(.replicationStarted, at: now)] + writes }
        let stays = (before.sourceSessionID, before.destinationSessionID) == (sourceSessionID, destinationSessionID)
        return stays ? writes : before.standing(isSourceActive: false, isActive: false) + writes
    }

    /// The destination does not take it for now.
    /// - Parameter others: whether the source has other ones.
    func waitingWrites(others: Bool) -> [HistoryWrite] { standing(isSourceActive: others, isActive: false) }

    /// It is over.
    /// - Parameter others: whether the source has other ones.
    func stoppedWrites(others: Bool, at now: WallTime) -> [HistoryWrite] {
        [event(.replicationStopped, at: now)] + standing(isSourceActive: others, isActive: false)
    }

    private func standing(isSourceActive: Bool, isActive: Bool) -> [HistoryWrite] {
        let replica = ParticipantReplication(
            .replica, isActive: isActive, sourceStageARN: key.sourceStageARN, sourceSessionID: sourceSessionID)
        return [
            .replication(
                ParticipantReplication(.source, isActive: isSourceActive), stageARN: key.sourceStageARN,
                sessionID: sourceSessionID, participantID: key.participantID),
            .replication(
                replica, stageARN: key.destinationStageARN, sessionID: destinationSessionID, participantID: key.participantID),
        ]
    }

    private func event(_ name: ParticipantEvent.Name, at now: WallTime) -> HistoryWrite {
        // A publish that has been closed by others has no events any more; this is one of the replication.
        var event = ParticipantEvent(
            name: name, time: now, stageARN: key.sourceStageARN, sessionID: sourceSessionID,
            participantID: key.participantID, userID: "",
            generation: name == .replicationStarted ? sourceGeneration : 0)
        event.destination = .init(stageARN: key.destinationStageARN, sessionID: destinationSessionID)
        return .event(event)
    }
}

extension GatewayStore {
    /// Tells the history of replications that a transaction has stopped.
    public func recordStopped(_ stopped: [Replication], at now: WallTime) {
        for replication in stopped {
            record(replication.stoppedWrites(others: hasTakenReplicas(replication.key.source), at: now))
        }
    }

    /// Tells the history of one that waits for its destination.
    public func recordWaiting(_ waiting: Replication) {
        record(waiting.waitingWrites(others: hasTakenReplicas(waiting.key.source)))
    }

    private func hasTakenReplicas(_ source: StageParticipant) -> Bool {
        state.replications(of: source).contains(where: \.isTaken)
    }
}
