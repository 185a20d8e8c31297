public import JWT
import Wire

/// A token whose signature was found good once. What may change since (time, key, stage, revocation) is asked at every use.
public struct VerifiedToken: Sendable {
    public var claims: ParticipantClaims
    public var keyID: String
    public var hash: CredentialHash
}

/// The claims of tokens seen lately, by hash; never a verdict.
typealias VerifiedTokens = FadingTable<CredentialHash, VerifiedToken>

extension VerifiedTokens {
    /// A token is in use for hours, and one signature an hour is nothing.
    init() { self.init(maximumCount: 20_000, lifetime: .seconds(3_600)) }
}
