public import Wire

/// A participant of one stage session, as GetParticipant shows it.
public struct Participant: Codable, Equatable, Sendable {
    public var stageARN: String
    public var sessionID: String
    public var participantID: String
    public var userID: String
    public var attributes: [String: String]
    /// CONNECTED or DISCONNECTED.
    public var isConnected: Bool
    /// Whether it ever published in this session.
    public var published: Bool
    public var firstJoinTime: WallTime
    /// `WHIP`, `RTMP` or `RTMPS`; empty for who has only watched.
    public var ingestProtocol: String
    /// Empty for tokens.
    public var ingestConfigurationARN: String
    public var client: ClientAttributes
    /// Nil while nothing of it was recorded. What `HistoryWrite.recording` says stays, whatever else is written.
    public var recording: ParticipantRecording?
    /// Nil while it is in no replication. What `HistoryWrite.replication` says stays, whatever else is written.
    public var replication: ParticipantReplication?
    /// The generation of the publish, or of the watching, that this is about; nil when it does neither. Not stored.
    public var generation: UInt64?
    /// Through which node of a cluster it watches, if it does. Not stored.
    public var node: String?

    public init(
        _ participant: SessionParticipant, userID: String, attributes: [String: String], firstJoinTime: WallTime,
        ingestProtocol: String, ingestConfigurationARN: String, client: ClientAttributes
    ) {
        (stageARN, sessionID, participantID) = (participant.stageARN, participant.sessionID, participant.participantID)
        (self.userID, self.attributes) = (userID, attributes)
        (isConnected, published, self.firstJoinTime) = (true, false, firstJoinTime)
        (self.ingestProtocol, self.ingestConfigurationARN) = (ingestProtocol, ingestConfigurationARN)
        self.client = client
    }
}

/// A participant that is connected to this gateway now, in which session; the history must not take it for abandoned.
public struct LivingParticipant: Codable, Hashable, Sendable {
    public var sessionID: String
    public var participantID: String

    public init(sessionID: String, participantID: String) { (self.sessionID, self.participantID) = (sessionID, participantID) }

    init(_ participant: Participant) {
        self.init(sessionID: participant.sessionID, participantID: participant.participantID)
    }
}
