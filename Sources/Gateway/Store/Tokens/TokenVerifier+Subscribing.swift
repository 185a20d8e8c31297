public import Admission
import JWT
public import Refusals
import Wire

/// Who may watch: a genuine participant token of the stage, with the SUBSCRIBE capability, neither expired nor revoked.
extension TokenVerifier: SubscribeAuthorizer {
    public func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void
    ) {
        verify(request.token, source: request.source.ip) { [self] result in
            reply(
                result.flatMap { token in
                    let claims = token.claims
                    guard claims.stageID == request.stageID else { return .failure(Refusal(.tokenOfOtherStage)) }
                    guard claims.allowsSubscribe else { return .failure(Refusal(.tokenCannotSubscribe)) }
                    return .success(
                        SubscribeGrant(
                            participantID: claims.participantID, stageARN: claims.stageARN, stageID: claims.stageID,
                            userID: claims.userID, publicKeyARN: publicKeyARN(of: token)))
                })
        }
    }
}

extension TokenVerifier: TokenStanding {
    public func refusal(of bearer: TokenBearer) -> Refusal? { store.state.refusal(of: bearer, at: wallNow()) }
}
