extension ParticipantClaims {
    /// Seconds by which clocks may differ.
    public static let leeway: Int64 = 60

    /// Whether a token may be used at a moment.
    public enum Validity: Equatable, Sendable {
        case valid
        case expired
        /// `iat` or `nbf` lies ahead.
        case notYet
    }

    /// - Parameter now: seconds since 1970.
    public func validity(at now: Int64) -> Validity {
        if now >= expiresAt + Self.leeway { return .expired }
        if max(issuedAt, notBefore ?? issuedAt) > now + Self.leeway { return .notYet }
        return .valid
    }
}
