public import Wire

/// A set of changes that is stored whole or not at all. It sees what transactions before it did, committed or about to be.
public struct StateTransaction: Sendable {
    public private(set) var state: StoreState
    package private(set) var changes: [Change] = []

    package init(_ state: StoreState) { self.state = state }

    public mutating func put(_ stage: Stage) { make(.put(.stage(stage))) }

    /// Removes the stage with its placements and what is replicated from it; ingest configurations that point to
    /// it are the caller's to change.
    public mutating func removeStage(_ arn: String) {
        let stageID = ResourceName.identifier(inARN: arn)
        for key in state.placements.keys where key.stageID == stageID { make(.delete(.placement(key))) }
        for replication in state.replications.values where replication.key.sourceStageARN == arn {
            removeReplication(replication.key)
        }
        make(.delete(.stage(arn: arn)))
    }

    public mutating func put(_ replication: Replication) { make(.put(.replication(replication))) }

    public mutating func removeReplication(_ key: Replication.Key) { make(.delete(.replication(key))) }

    public mutating func put(_ key: PublicKey) { make(.put(.publicKey(key))) }

    public mutating func removePublicKey(_ arn: String) { make(.delete(.publicKey(arn: arn))) }

    public mutating func put(_ configuration: IngestConfiguration) { make(.put(.ingestConfiguration(configuration))) }

    public mutating func removeIngestConfiguration(_ arn: String) { make(.delete(.ingestConfiguration(arn: arn))) }

    public mutating func put(_ configuration: StorageConfiguration) { make(.put(.storageConfiguration(configuration))) }

    /// Stages that record there are the caller's to look at.
    public mutating func removeStorageConfiguration(_ arn: String) { make(.delete(.storageConfiguration(arn: arn))) }

    public mutating func put(_ revocation: Revocation) { make(.put(.revocation(revocation))) }

    mutating func removeRevocations(expiredAt now: WallTime) {
        for entry in state.expiredRevocations(at: now) { make(.delete(Record.revocation(entry).id)) }
    }

    public mutating func removeRevocation(participantID: String, stageARN: String) {
        make(.delete(.revocation(stageARN: stageARN, participantID: participantID)))
    }

    /// Moves a stage's replica to `router` if its record is still `expected`; returns the record that now holds.
    ///
    /// - Parameter now: makes the generation, max(last + 1, wall clock ms).
    public mutating func place(
        _ key: Placement.Key, on router: String, expected: Placement?, now: WallTime
    ) -> Placement {
        let current = state.placements[key]
        if let current, current != expected { return current }
        let generation = max((current?.generation ?? 0) + 1, UInt64(max(0, now.millisecondsSince1970)))
        let placement = Placement(key: key, router: router, generation: generation)
        make(.put(.placement(placement)))
        return placement
    }

    public mutating func setSetting(_ name: String, to value: Secret) {
        make(.put(.setting(Setting(name: name, value: value))))
    }

    package mutating func put(_ record: Record) { make(.put(record)) }

    private mutating func make(_ change: Change) {
        state.apply(change)
        changes.append(change)
    }
}

/// One record put or deleted by a transaction.
package enum Change: Sendable {
    case put(Record)
    case delete(Record.ID)

    package var id: Record.ID {
        switch self {
        case .put(let record): record.id
        case .delete(let id): id
        }
    }
}
