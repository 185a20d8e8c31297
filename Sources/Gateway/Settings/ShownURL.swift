extension String {
    /// A URL as it may be shown: `redacted` stands for the user and password that it may have. Any other text is as it was.
    public var withoutUserInformation: String {
        guard let colon = firstIndex(of: ":"), self[colon...].hasPrefix("://") else { return self }
        let start = index(colon, offsetBy: 3)
        let end = self[start...].firstIndex { "/?#".contains($0) } ?? endIndex
        guard let sign = self[start..<end].lastIndex(of: "@") else { return self }
        return "\(self[..<start])redacted\(self[sign...])"
    }
}
