import GRDB
import Wire

/// Publishes whose holder cannot say any more that it ended: what follows is derived, and what the holder still says is too late.
struct ClosedPublishes {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Whether the participant's publish of this generation was closed.
    func contains(_ generation: UInt64, of participant: SessionParticipant) throws -> Bool {
        guard generation > 0 else { return false }
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM participant WHERE \(SessionParticipant.condition) AND closedGeneration >= ?")
        let closed: StatementArguments = [Int64(clamping: generation)]
        return try Bool.fetchOne(statement, arguments: participant.arguments + closed) ?? false
    }

    /// - Returns: the events that follow; none if a newer publish has the participant, or it has left.
    func close(_ participant: Participant, _ generation: UInt64, at now: WallTime) throws -> [ParticipantEvent] {
        let last = try lastGeneration(of: participant.place)
        guard participant.isConnected, last <= generation else { return [] }
        func event(_ name: ParticipantEvent.Name, of remote: String = "") -> ParticipantEvent {
            var event = ParticipantEvent(
                name: name, time: now, of: participant.place, userID: participant.userID, generation: generation)
            event.remoteParticipantID = remote
            event.isReplica = remote.isEmpty && participant.replication?.part == .replica
            return event
        }
        let subscriptions = try openSubscriptions(of: participant.place).map { event(.subscribeStopped, of: $0) }
        let stopped = try isPublishing(participant.place) ? [event(.publishStopped)] : []
        try add(generation, of: participant.place)
        return try (subscriptions + stopped + [event(.left)]).map { try EventLog(database).append($0) }
    }

    /// The participant is not connected by this generation any more, nor by an older one.
    func add(_ generation: UInt64, of participant: SessionParticipant) throws {
        let closed: StatementArguments = [Int64(clamping: generation)]
        try database.execute(
            sql: """
                UPDATE participant SET isConnected = 0, closedGeneration = max(closedGeneration, ?)
                    WHERE \(SessionParticipant.condition)
                """, arguments: closed + participant.arguments)
    }

    /// Of the participant's newest publish or watching; 0 when there is none.
    func lastGeneration(of participant: SessionParticipant) throws -> UInt64 {
        let newest = try ParticipantEvent.fetch(
            database,
            where: """
                \(SessionParticipant.condition) AND \(ParticipantEvent.isModelled)
                    ORDER BY generation DESC LIMIT 1
                """, participant.arguments)
        return newest.first?.generation ?? 0
    }

    private func openSubscriptions(of participant: SessionParticipant) throws -> [String] {
        var open: Set<String> = []
        for event in try events(of: participant, named: .subscribeStarted, .subscribeStopped) {
            if event.name == .subscribeStarted {
                open.insert(event.remoteParticipantID)
            } else {
                open.remove(event.remoteParticipantID)
            }
        }
        return open.sorted()
    }

    private func isPublishing(_ participant: SessionParticipant) throws -> Bool {
        try events(of: participant, named: .publishStarted, .publishStopped).last?.name == .publishStarted
    }

    /// Oldest first.
    private func events(
        of participant: SessionParticipant, named one: ParticipantEvent.Name, _ other: ParticipantEvent.Name
    ) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database, where: "\(SessionParticipant.condition) AND name IN (?, ?) ORDER BY sequence",
            participant.arguments + [one.rawValue, other.rawValue])
    }
}
