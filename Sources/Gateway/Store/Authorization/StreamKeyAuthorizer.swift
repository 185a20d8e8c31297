import Admission
import Refusals
import Wire

/// Decides about RTMP by stream key, from memory: key → ingest configuration → stage.
struct StreamKeyAuthorizer: Sendable {
    let store: any PlatformStore
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
        grant.userAgent = request.userAgent
        if request.ingestProtocol == .rtmp, !configuration.insecureIngest {
            let refusal = Refusal(.insecureProtocol)
            reports.publishRefused(grant, protocol: .rtmp, refusal)
            return .failure(refusal)
        }
        return .success(grant)
    }
}
