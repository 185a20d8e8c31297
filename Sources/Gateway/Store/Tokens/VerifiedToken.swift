public import JWT

/// A token whose signature was found good once. What may change since (time, key, stage, revocation) is asked at every use.
public struct VerifiedToken: Sendable {
    public var claims: ParticipantClaims
    public var keyID: String
    public var hash: CredentialHash
}

/// The claims of tokens seen lately, by hash; never a verdict. Half of them go when it is full, the oldest.
struct VerifiedTokens {
    static let maximumCount = 20_000

    private var recent: [CredentialHash: VerifiedToken] = [:]
    private var older: [CredentialHash: VerifiedToken] = [:]

    mutating func token(_ hash: CredentialHash) -> VerifiedToken? {
        if let token = recent[hash] { return token }
        guard let token = older.removeValue(forKey: hash) else { return nil }
        insert(token)
        return token
    }

    mutating func insert(_ token: VerifiedToken) {
        if recent.count >= Self.maximumCount / 2 {
            older = recent
            recent = [:]
        }
        recent[token.hash] = token
    }
}
