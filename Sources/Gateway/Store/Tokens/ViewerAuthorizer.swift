public import Admission
import JWT
public import Refusals
import Wire

/// Who may watch: a genuine participant token of the stage, with the SUBSCRIBE capability, neither expired nor revoked.
public struct ViewerAuthorizer: SubscribeAuthorizer {
    private let tokens: TokenVerifier
    /// Told when a genuine token of the stage lacks the capability.
    private let reports: any ViewerReports

    public init(tokens: TokenVerifier, reports: any ViewerReports) { (self.tokens, self.reports) = (tokens, reports) }

    public func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void
    ) {
        tokens.verify(request.token, source: request.source.ip) { [self] result in
            reply(result.flatMap { grant($0, request) })
        }
    }

    private func grant(_ token: VerifiedToken, _ request: SubscribeRequest) -> Result<SubscribeGrant, Refusal> {
        let claims = token.claims
        guard claims.stageID == request.stageID else { return .failure(Refusal(.tokenOfOtherStage)) }
        var grant = SubscribeGrant(
            participantID: claims.participantID, stageARN: claims.stageARN, stageID: claims.stageID,
            userID: claims.userID, attributes: claims.attributes, publicKeyARN: tokens.publicKeyARN(of: token))
        grant.userAgent = request.userAgent
        guard !claims.allowsSubscribe else { return .success(grant) }
        let refusal = Refusal(.tokenCannotSubscribe)
        if let watched = request.participantID { reports.watchRefused(Watching(grant, watches: watched), refusal) }
        return .failure(refusal)
    }
}
