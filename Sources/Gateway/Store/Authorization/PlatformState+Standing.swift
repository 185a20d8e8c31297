public import Admission
public import Refusals
public import Wire

extension PlatformState {
    /// What became of a publish's credential since it was found good; nil while it is.
    public func refusal(of grant: PublishGrant, at now: WallTime) -> Refusal? {
        if let bearer = grant.bearer { return refusal(of: bearer, at: now) }
        guard stages[grant.stageARN] != nil else { return Refusal(.stageDeleted) }
        let configuration = grant.ingestConfigurationARN.flatMap { ingestConfigurations[$0] }
        return configuration?.stageARN == grant.stageARN ? nil : Refusal(.detachedStreamKey)
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
