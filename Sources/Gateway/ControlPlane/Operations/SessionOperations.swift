import JSON
import Store
import Wire

/// The history: sessions of a stage, their participants and events.
struct SessionOperations: Sendable {
    let context: OperationContext

    /// Newest first.
    func listStageSessions(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("stageArn", .arn(.stage))
        let page = try Page(input, list: "sessions")
        let after = try page.after.map { key throws(APIError) in try Self.sessionKey(key) }
        context.read(reply) { reader in
            let sessions = try reader.sessions(ofStage: arn, after: after, limit: page.count + 1)
            return page.output(
                "stageSessions", sessions, key: { "\($0.startTime.nanosecondsSince1970) \($0.sessionID)" }, encode: Output.session
            )
        }
    }

    func getStageSession(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("stageArn", .arn(.stage))
        let sessionID = try input.text("sessionId", .sessionID)
        context.read(reply) { reader in
            guard let session = try reader.session(sessionID, ofStage: arn) else {
                throw APIError.notFound("There is no such stage session.")
            }
            return ["stageSession": Output.session(session)]
        }
    }

    func listParticipants(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let arn = try input.text("stageArn", .arn(.stage))
        let sessionID = try input.text("sessionId", .sessionID)
        let filter = try Self.filter(input)
        let page = try Page(input, list: "participants")
        context.read(reply) { [self] reader in
            let participants = try reader.participants(
                ofStage: arn, sessionID: sessionID, matching: filter, after: page.after ?? "", limit: page.count + 1)
            return page.output("participants", participants, key: \.participantID) {
                .object(Output.participantSummary($0, isRedundant: isRedundant($0)))
            }
        }
    }

    func getParticipant(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let asked = try Self.participant(input)
        context.read(reply) { [self] reader in
            guard let participant = try reader.participant(asked) else {
                throw APIError.notFound("There is no such participant.")
            }
            return ["participant": Output.participant(participant, isRedundant: isRedundant(participant))]
        }
    }

    /// Oldest first.
    func listParticipantEvents(_ input: Input, _ reply: @escaping OperationReply) throws(APIError) {
        let asked = try Self.participant(input)
        let page = try Page(input, list: "events")
        let after = try page.after.map { key throws(APIError) in try Self.eventNumber(key) }
        context.read(reply) { reader in
            let events = try reader.events(of: asked, after: after ?? 0, limit: page.count + 1)
            return page.output("events", events, key: { String($0.sequence) }, encode: Output.event)
        }
    }

    private static func participant(_ input: Input) throws(APIError) -> SessionParticipant {
        let arn = try input.text("stageArn", .arn(.stage))
        let sessionID = try input.text("sessionId", .sessionID)
        return SessionParticipant(try input.text("participantId", .participantID), ofStage: arn, sessionID: sessionID)
    }

    /// By its ingest configuration as it is now.
    private func isRedundant(_ participant: Participant) -> Bool {
        let configuration = context.store.state.ingestConfigurations[participant.ingestConfigurationARN]
        return configuration?.redundantCredentials.contains { $0.participantID == participant.participantID } ?? false
    }

    private static func sessionKey(_ key: String) throws(APIError) -> (startTime: WallTime, sessionID: String) {
        let words = key.split(separator: " ")
        guard words.count == 2, let time = Int64(words[0]) else { throw .foreignPage }
        return (WallTime(nanosecondsSince1970: time), String(words[1]))
    }

    private static func eventNumber(_ key: String) throws(APIError) -> Int64 {
        guard let number = Int64(key) else { throw .foreignPage }
        return number
    }

    /// At most one of the four filters may be given.
    private static func filter(_ input: Input) throws(APIError) -> ParticipantFilter {
        var filters: [ParticipantFilter] = []
        if let userID = try input.optionalText("filterByUserId", .userID) { filters.append(.userID(userID)) }
        if let published = try input.optionalFlag("filterByPublished") { filters.append(.published(published)) }
        if let state = try input.optionalText("filterByState", .oneOf("CONNECTED", "DISCONNECTED")) {
            filters.append(.connected(state == "CONNECTED"))
        }
        let states = TextRule.oneOf(ParticipantRecording.State.allCases.map(\.rawValue))
        let recording = try input.optionalText("filterByRecordingState", states)
        if let state = recording.flatMap(ParticipantRecording.State.init(rawValue:)) { filters.append(.recording(state)) }
        guard filters.count <= 1 else { throw .validation("Only one filter may be given.") }
        return filters.first ?? .none
    }
}
