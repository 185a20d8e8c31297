public import Wire

/// A set of changes that is stored whole or not at all. It sees what transactions before it did, committed or about to be.
public struct StateTransaction: Sendable {
    public private(set) var state: PlatformState
    private(set) var changes: [Change] = []

    init(_ state: PlatformState) { self.state = state }

    public mutating func put(_ stage: Stage) {
        state.put(stage)
        changes.append(.put(stage))
    }

    /// Removes the stage with its placements; ingest configurations that point to it are the caller's to change.
    public mutating func removeStage(_ arn: String) {
        let stageID = ResourceName.identifier(inARN: arn)
        for key in state.placements.keys where key.stageID == stageID {
            state.removePlacement(key)
            changes.append(.delete(Placement.self, key: [key.stageID, String(key.replica)]))
        }
        state.removeStage(arn)
        changes.append(.delete(Stage.self, key: [arn]))
    }

    public mutating func put(_ key: PublicKey) {
        state.put(key)
        changes.append(.put(key))
    }

    public mutating func removePublicKey(_ arn: String) {
        state.removePublicKey(arn)
        changes.append(.delete(PublicKey.self, key: [arn]))
    }

    public mutating func put(_ configuration: IngestConfiguration) {
        state.put(configuration)
        changes.append(.put(configuration))
    }

    public mutating func removeIngestConfiguration(_ arn: String) {
        state.removeIngestConfiguration(arn)
        changes.append(.delete(IngestConfiguration.self, key: [arn]))
    }

    public mutating func put(_ revocation: Revocation) {
        state.put(revocation)
        changes.append(.put(revocation))
    }

    public mutating func removeRevocations(expiredAt now: WallTime) {
        for revocation in state.expiredRevocations(at: now) {
            state.remove(revocation)
            changes.append(.delete(Revocation.self, key: [revocation.stageARN, revocation.participantID]))
        }
    }

    public mutating func removeRevocation(participantID: String, stageARN: String) {
        state.remove(Revocation(stageARN: stageARN, participantID: participantID, expiresAt: WallTime(secondsSince1970: 0)))
        changes.append(.delete(Revocation.self, key: [stageARN, participantID]))
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
        state.put(placement)
        changes.append(.put(placement))
        return placement
    }

    public mutating func setSetting(_ name: String, to value: Secret) {
        let setting = Setting(name: name, value: value)
        state.put(setting)
        changes.append(.put(setting))
    }
}
