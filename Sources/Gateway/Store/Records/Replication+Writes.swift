public import Wire

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
    /// - Parameter isSourceActive: whether its source has other replications.
    func waitingWrites(isSourceActive: Bool) -> [HistoryWrite] { standing(isSourceActive: isSourceActive, isActive: false) }

    /// It is over.
    /// - Parameter isSourceActive: whether its source has other replications.
    func stoppedWrites(isSourceActive: Bool, at now: WallTime) -> [HistoryWrite] {
        [event(.replicationStopped, at: now)] + standing(isSourceActive: isSourceActive, isActive: false)
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
            name: name, time: now,
            of: SessionParticipant(key.participantID, ofStage: key.sourceStageARN, sessionID: sourceSessionID), userID: "",
            generation: name == .replicationStarted ? sourceGeneration : 0)
        event.destination = .init(stageARN: key.destinationStageARN, sessionID: destinationSessionID)
        return .event(event)
    }
}

extension GatewayStore {
    /// Tells the history of replications that a transaction has stopped.
    public func recordStopped(_ stopped: [Replication], at now: WallTime) {
        for replication in stopped {
            record(replication.stoppedWrites(isSourceActive: hasTakenReplicas(replication.key.source), at: now))
        }
    }

    /// Tells the history of one that waits for its destination.
    public func recordWaiting(_ waiting: Replication) {
        record(waiting.waitingWrites(isSourceActive: hasTakenReplicas(waiting.key.source)))
    }

    private func hasTakenReplicas(_ source: StageParticipant) -> Bool {
        state.replications(of: source).contains(where: \.isTaken)
    }
}
