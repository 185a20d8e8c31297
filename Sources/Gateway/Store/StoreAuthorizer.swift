public import Admission
public import Refusals
public import Wire

/// The authorizer of a gateway, by what its store holds: stream keys are answered at once, tokens once they are verified.
public final class StoreAuthorizer: Authorizer {
    /// Answers for the tokens of WHIP.
    public typealias TokenAuthorizer =
        @Sendable (Secret, PublishRequest, @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) -> Void

    private let streamKeys: StreamKeyAuthorizer
    private let tokens: TokenAuthorizer

    public init(store: any GatewayStore, reports: any PublishReports, tokens: @escaping TokenAuthorizer) {
        streamKeys = StreamKeyAuthorizer(store: store, reports: reports)
        self.tokens = tokens
    }

    public func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        switch request.credential {
        case .streamKey(let key): reply(streamKeys.authorize(key, request))
        case .token(let token): tokens(token, request, reply)
        }
    }
}

/// Decides about RTMP by stream key, from memory: key → ingest configuration → stage.
struct StreamKeyAuthorizer: Sendable {
    let store: any GatewayStore
    /// Told of refusals that leave an event: the key is genuine, what was done with it is not.
    let reports: any PublishReports

    func authorize(_ key: Secret, _ request: PublishRequest) -> Result<PublishGrant, Refusal> {
        let state = store.state
        let hash = CredentialHash(of: key)
        guard let (configuration, participantID) = state.ingestConfiguration(withStreamKey: hash) else {
            return .failure(Refusal(.unknownStreamKey))
        }
        guard !configuration.stageARN.isEmpty else { return .failure(Refusal(.detachedStreamKey)) }
        guard let stage = state.stages[configuration.stageARN] else { return .failure(Refusal(.stageDeleted)) }
        var grant = PublishGrant(
            participantID: participantID, stageARN: stage.arn, stageID: stage.id, userID: configuration.userID,
            attributes: configuration.attributes, ingestConfigurationARN: configuration.arn, stageTags: stage.tags,
            credentialHash: hash.text)
        (grant.userAgent, grant.redundancy) = (request.userAgent, configuration.redundancy(of: participantID))
        guard let refusal = refusal(of: grant, request.ingestProtocol, configuration) else { return .success(grant) }
        reports.publishRefused(grant, protocol: request.ingestProtocol, refusal)
        return .failure(refusal)
    }

    private func refusal(
        of grant: PublishGrant, _ ingestProtocol: IngestProtocol, _ configuration: IngestConfiguration
    ) -> Refusal? {
        if grant.redundancy == .joined { return Refusal(.redundantStreamKey) }
        return ingestProtocol == .rtmp && !configuration.insecureIngest ? Refusal(.insecureProtocol) : nil
    }
}

extension StoreState {
    /// What became of a publish's credential since it was found good; nil while it is.
    public func refusal(of grant: PublishGrant, at now: WallTime) -> Refusal? {
        if let replica = grant.replica { return refusal(of: replica, in: grant) }
        if let bearer = grant.bearer { return refusal(of: bearer, at: now) }
        guard stages[grant.stageARN] != nil else { return Refusal(.stageDeleted) }
        let configuration = grant.ingestConfigurationARN.flatMap { ingestConfigurations[$0] }
        return configuration?.stageARN == grant.stageARN ? nil : Refusal(.detachedStreamKey)
    }

    /// A replica stands as long as its replication.
    private func refusal(of replica: ReplicaOrigin, in grant: PublishGrant) -> Refusal? {
        guard stages[grant.stageARN] != nil else { return Refusal(.stageDeleted) }
        let key = Replication.Key(grant.participantID, from: replica.sourceStageARN, to: grant.stageARN)
        if let replication = replications[key], replication.isRunning, replication.number == replica.number { return nil }
        return Refusal(.participantDisconnected, sentence: "The replication to this stage was stopped.")
    }

    /// What became of a token since it was found good; nil while nobody has taken it away.
    public func refusal(of bearer: TokenBearer, at now: WallTime) -> Refusal? {
        guard stages[bearer.stageARN] != nil else { return Refusal(.stageDeleted) }
        if let key = bearer.publicKeyARN, publicKeys[key] == nil {
            return Refusal(.tokenRejected, sentence: "The public key of the token was deleted: mint a token with another one.")
        }
        let isRevoked = isRevoked(participantID: bearer.participantID, stageARN: bearer.stageARN, at: now)
        return isRevoked ? Refusal(.participantDisconnected) : nil
    }
}
