import JWT
import Refusals
public import Settings
import Wire

/// Every rule about tokens but the signature, over the state of this moment (docs/design.md 7.1).
public struct TokenRules: Sendable {
    public var endpoints: EndpointHistory
    var settings: TokenSettings
    /// `kid` of the server's own key.
    let authorityKeyID: String

    public init(endpoints: EndpointHistory, authority: TokenAuthority, settings: TokenSettings = TokenSettings()) {
        (self.endpoints, self.settings, authorityKeyID) = (endpoints, settings, authority.keyID)
    }

    static let unknownKey = Refusal(
        .tokenRejected, sentence: "The token's key (kid) is unknown here: import its public key, or mint again.")

    /// What is asked before the signature is looked at, and again at every later use.
    func check(_ claims: ParticipantClaims, keyID: String, in state: StoreState, at now: WallTime) -> Refusal? {
        guard keyID == authorityKeyID || state.publicKeys[keyID] != nil else { return Self.unknownKey }
        guard state.stages[claims.stageARN] != nil else { return Refusal(.stageDeleted) }
        switch claims.validity(at: now.secondsSince1970) {
        case .valid: break
        case .expired: return Refusal(.tokenExpired)
        case .notYet:
            return Refusal(.tokenRejected, sentence: "The token is not valid yet: set the clock of the machine that minted it.")
        }
        guard settings.endpointCheck == .lenient || namesOurEndpoints(claims, in: state, at: now) else {
            return Refusal(
                .tokenRejected,
                sentence: "The token's events_url or whip_url is no endpoint of this stage: take both from GetStage.")
        }
        return nil
    }

    /// What is asked once the token is known to be genuine.
    func checkGenuine(_ claims: ParticipantClaims, in state: StoreState, at now: WallTime) -> Refusal? {
        let isRevoked = state.isRevoked(participantID: claims.participantID, stageARN: claims.stageARN, at: now)
        return isRevoked ? Refusal(.participantDisconnected) : nil
    }

    private func namesOurEndpoints(_ claims: ParticipantClaims, in state: StoreState, at now: WallTime) -> Bool {
        [claims.eventsURL, claims.whipURL].allSatisfy { endpoints.accepts($0, at: now.secondsSince1970, in: state) }
    }
}

extension JWTError {
    /// What an encoder is told about it.
    var refusal: Refusal {
        let fault =
            switch self {
            case .tooLong: "is longer than \(CompactToken.maximumLength) bytes"
            case .wrongParts: "is not three parts joined by dots"
            case .invalidBase64(let part): "has a \(part) that is not base64url"
            case .invalidJSON(let part): "has a \(part) that is not one JSON object without repeated names"
            case .unsupportedAlgorithm: "is not signed with ES384"
            case .unsupportedType: "has no typ JWT"
            case .unsupportedHeader(let name): "has the header member \(name), which is not supported"
            case .missingKeyID: "has no kid"
            case .wrongSignatureLength: "has a signature that is not the 96 bytes of ES384"
            case .missingClaim(let name): "lacks the claim \(name)"
            case .invalidClaim(let name): "has a wrong claim \(name)"
            }
        return Refusal(.tokenMalformed, sentence: "The token \(fault): copy it again, whole, or mint a new one.")
    }
}
