extension String {
    /// A URL as it may be shown: `redacted` stands for the user and password that it may have, and for its query, in which
    /// receivers of webhooks have their keys. Any other text is as it was.
    public var withoutCredentials: String {
        guard let colon = firstIndex(of: ":"), self[colon...].hasPrefix("://") else { return self }
        let start = index(colon, offsetBy: 3)
        let end = self[start...].firstIndex { "/?#".contains($0) } ?? endIndex
        let sign = self[start..<end].lastIndex(of: "@")
        let query = self[end...].firstIndex(of: "?") ?? endIndex
        let (user, rest) = (sign == nil ? "" : "redacted", query == endIndex ? "" : "?redacted")
        return "\(self[..<start])\(user)\(self[(sign ?? start)..<query])\(rest)"
    }
}
