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
    /// `WHIP`, `RTMP` or `RTMPS`.
    public var ingestProtocol: String
    /// Empty for tokens.
    public var ingestConfigurationARN: String
    public var client: ClientAttributes
    /// The generation of the publish that this tells of; nil when it holds no lease. No part of what is kept.
    public var generation: UInt64?

    public init(
        stageARN: String, sessionID: String, participantID: String, userID: String, attributes: [String: String],
        firstJoinTime: WallTime, ingestProtocol: String, ingestConfigurationARN: String, client: ClientAttributes
    ) {
        (self.stageARN, self.sessionID, self.participantID) = (stageARN, sessionID, participantID)
        (self.userID, self.attributes) = (userID, attributes)
        (isConnected, published, self.firstJoinTime) = (true, false, firstJoinTime)
        (self.ingestProtocol, self.ingestConfigurationARN) = (ingestProtocol, ingestConfigurationARN)
        self.client = client
    }
}
