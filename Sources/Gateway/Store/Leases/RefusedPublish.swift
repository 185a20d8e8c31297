import Admission
import Wire

/// A publish that was turned away before it had a lease, as the history is told of it.
struct RefusedPublish {
    /// Of `EventErrorCode`, what keeps a participant out whatever it would publish.
    private static let joinErrorCodes: Set = [
        "INSUFFICIENT_CAPABILITIES", "INTERNAL_SERVER_EXCEPTION", "INVALID_PROTOCOL", "INVALID_STREAM_KEY", "QUOTA_EXCEEDED",
        "REUSE_OF_STREAM_KEY",
    ]

    var grant: PublishGrant
    var ingestProtocol: IngestProtocol
    var sessionID: String
    var errorCode: String
    var time: WallTime

    /// - Parameter isPresent: the participant publishes by another session, or watches.
    func writes(isPresent: Bool) -> [HistoryWrite] {
        if isPresent { return [event(.publishError)] }
        var participant = Participant(grant, ingestProtocol, sessionID: sessionID, firstJoinTime: time)
        participant.isConnected = false
        let joinError = Self.joinErrorCodes.contains(errorCode) ? [event(.joinError)] : []
        return [.participant(participant)] + joinError + [event(.publishError)]
    }

    private func event(_ name: ParticipantEvent.Name) -> HistoryWrite {
        var event = ParticipantEvent(
            name: name, time: time, of: SessionParticipant(grant, sessionID: sessionID), userID: grant.userID,
            errorCode: errorCode)
        event.isReplica = grant.replica != nil
        return .event(event)
    }
}

extension Participant {
    init(_ grant: PublishGrant, _ ingestProtocol: IngestProtocol, sessionID: String, firstJoinTime: WallTime) {
        self.init(
            SessionParticipant(grant, sessionID: sessionID), userID: grant.userID, attributes: grant.attributes,
            firstJoinTime: firstJoinTime, ingestProtocol: ingestProtocol.rawValue,
            ingestConfigurationARN: grant.ingestConfigurationARN ?? "",
            client: ClientAttributes(userAgent: grant.userAgent))
    }
}

extension SessionParticipant {
    init(_ grant: PublishGrant, sessionID: String) {
        self.init(grant.participantID, ofStage: grant.stageARN, sessionID: sessionID)
    }
}
