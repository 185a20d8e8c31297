public import Wire

/// A live publisher of one stage that stands on another one too (`ParticipantReplica` of the API model).
///
/// Whoever starts one writes the record; the worker that has the publish acts on it and says how that went; a reconnect window is
/// looked after by every node (Gateway/Replication). One that has stopped stays as long as the source's stage session.
public struct Replication: Equatable, Sendable {
    public struct Key: Hashable, Sendable {
        public var sourceStageARN: String
        public var participantID: String
        public var destinationStageARN: String

        public init(_ participantID: String, from sourceStageARN: String, to destinationStageARN: String) {
            (self.sourceStageARN, self.participantID) = (sourceStageARN, participantID)
            self.destinationStageARN = destinationStageARN
        }

        public var source: StageParticipant { StageParticipant(participantID, of: sourceStageARN) }
        public var destination: StageParticipant { StageParticipant(participantID, of: destinationStageARN) }
    }

    public enum State: String, Sendable {
        /// Asked for; nobody has answered yet.
        case starting
        /// It goes on: on the destination, unless its source is away for a while or `refusedBy` says why it waits.
        case active
        /// The destination did not take it: `refusedBy` says why. Whoever asked for it takes the record away.
        case refused
        case stopped
    }

    /// Of one participant at a time.
    public static let maximumPerParticipant = 5

    public var key: Key
    /// Tells this start from others of the same pair.
    public var number: String
    /// What the participant has on the destination beside its own, and in place of it.
    public var attributes: [String: String]
    /// How long it waits for a source that has left, in seconds.
    public var reconnectWindow: Int
    public var state = State.starting
    /// The number of a `RefusalCode`; 0 for none.
    public var refusedBy = 0
    /// Empty until it was active once.
    public var sourceSessionID = ""
    public var destinationSessionID = ""
    /// Of the source's publish, when it was last active.
    public var sourceGeneration: UInt64 = 0
    public var startedAt: WallTime

    public init(
        _ key: Key, number: String, attributes: [String: String] = [:], reconnectWindow: Int = 0, startedAt: WallTime
    ) {
        (self.key, self.number, self.attributes) = (key, number, attributes)
        (self.reconnectWindow, self.startedAt) = (reconnectWindow, startedAt)
    }

    /// Somebody acts on it, or shall.
    public var isRunning: Bool { state == .starting || state == .active }
    /// Nothing keeps it from the destination while its source is there.
    public var isTaken: Bool { state == .active && refusedBy == 0 }
}

extension StoreState {
    /// Those of one participant, in the order of their destinations.
    public func replications(of source: StageParticipant) -> [Replication] {
        guard !replications.isEmpty else { return [] }
        return replications.values.filter { $0.key.source == source }
            .sorted { $0.key.destinationStageARN < $1.key.destinationStageARN }
    }

    /// By which a participant stands on a stage where it does not publish itself.
    public func runningReplication(to destination: StageParticipant) -> Replication? {
        guard !replications.isEmpty else { return nil }
        return replications.values.first { $0.isRunning && $0.key.destination == destination }
    }
}

extension StateTransaction {
    /// The destination has taken it, in the stage sessions of both sides.
    /// - Parameter generation: of the source's publish.
    /// - Returns: the record before and after; nil when this start has stopped meanwhile.
    public mutating func activate(
        _ key: Replication.Key, number: String, sourceSessionID: String, destinationSessionID: String, generation: UInt64
    ) -> (before: Replication, after: Replication)? {
        guard let before = state.replications[key], before.number == number, before.isRunning else { return nil }
        var after = before
        (after.state, after.refusedBy) = (.active, 0)
        (after.sourceSessionID, after.destinationSessionID) = (sourceSessionID, destinationSessionID)
        after.sourceGeneration = generation
        if after != before { put(after) }
        return (before, after)
    }

    /// - Parameter refusedBy: the number of a `RefusalCode`.
    public mutating func refuse(_ key: Replication.Key, number: String, refusedBy: Int) {
        guard var replication = state.replications[key], replication.number == number, replication.state == .starting else {
            return
        }
        (replication.state, replication.refusedBy) = (.refused, refusedBy)
        put(replication)
    }

    /// The destination does not take one that was active, and is asked again.
    /// - Parameter refusedBy: the number of a `RefusalCode`.
    /// - Returns: the record; nil when it says so already, or this start has stopped meanwhile.
    public mutating func wait(_ key: Replication.Key, number: String, refusedBy: Int) -> Replication? {
        guard var replication = state.replications[key], replication.number == number, replication.state == .active,
            replication.refusedBy != refusedBy
        else { return nil }
        replication.refusedBy = refusedBy
        put(replication)
        return replication
    }

    /// Ends it, unless that has happened.
    /// - Parameter number: of the start that is meant; nil for whichever runs.
    /// - Returns: what was active until now; nil otherwise.
    public mutating func stop(_ key: Replication.Key, number: String? = nil) -> Replication? {
        guard var replication = state.replications[key], replication.isRunning, number ?? replication.number == replication.number
        else { return nil }
        guard replication.state == .active else {
            removeReplication(key)
            return nil
        }
        replication.state = .stopped
        put(replication)
        return replication
    }

    /// - Returns: those that were active until now.
    public mutating func stopReplications(where isMeant: (Replication.Key) -> Bool) -> [Replication] {
        let keys = state.replications.values.filter { $0.isRunning && isMeant($0.key) }.map(\.key)
        return keys.compactMap { stop($0) }
    }
}
