/// Who publishes where: what the credential means, once it has been found good.
public struct PublishGrant: Sendable, Codable, Equatable {
    public var participantID: String
    public var stageARN: String
    /// The text after `stage/` in the ARN.
    public var stageID: String
    public var userID: String
    public var attributes: [String: String]
    /// The ingest configuration behind a stream key; nil for tokens.
    public var ingestConfigurationARN: String?
    /// Nil where one encoder is one participant.
    public var redundancy: Redundancy?
    /// The imported public key behind a token; nil for stream keys, and for tokens that the gateway minted.
    public var publicKeyARN: String?
    /// Stage tags that override limits (`stagedoor:…`), as stored.
    public var stageTags: [String: String]
    /// A hash of the credential, for comparing and for logs; never the credential.
    public var credentialHash: String
    /// flashVer or User-Agent as the encoder sent it; participants show what it tells.
    public var userAgent = ""
    /// Whose media this is, where the participant publishes on another stage and stands here too; nil for a publish of its own.
    public var replica: ReplicaOrigin?

    public init(
        participantID: String, stageARN: String, stageID: String, userID: String = "", attributes: [String: String] = [:],
        ingestConfigurationARN: String? = nil, stageTags: [String: String] = [:], credentialHash: String
    ) {
        (self.participantID, self.stageARN, self.stageID) = (participantID, stageARN, stageID)
        (self.userID, self.attributes, self.ingestConfigurationARN) = (userID, attributes, ingestConfigurationARN)
        (self.stageTags, self.credentialHash) = (stageTags, credentialHash)
    }
}

/// Where a replicated participant publishes.
public struct ReplicaOrigin: Sendable, Codable, Hashable {
    public var sourceStageARN: String
    public var sourceSessionID: String
    /// Which start of the replication this comes of.
    public var number: String

    public init(sourceStageARN: String, sourceSessionID: String, number: String) {
        (self.sourceStageARN, self.sourceSessionID, self.number) = (sourceStageARN, sourceSessionID, number)
    }
}

/// A publish's part in redundant ingest, where two encoders are one participant.
public enum Redundancy: Sendable, Codable, Hashable {
    /// One of the two encoders, by its own key. The stage sees the participant `joined` in its place.
    /// - Parameter number: 1 or 2, in the order of `redundantIngestCredentials`.
    case encoder(number: Int, joined: String)
    /// What the stage sees: now the one encoder's media, now the other's.
    case joined
}
