/// What a User-Agent or flashVer tells about the encoder, in the characters that `ParticipantClientAttribute` allows.
public struct ClientAttributes: Codable, Equatable, Sendable {
    /// Characters of one attribute, at most.
    static let maximumLength = 128

    public var browserName = ""
    public var browserVersion = ""
    public var osName = ""
    public var osVersion = ""
    public var sdkVersion = ""

    public init() {}

    /// - Parameter userAgent: as the encoder sent it; unknown forms become `sdkVersion` as they are.
    public init(userAgent: String) {
        sdkVersion = Self.sanitised(userAgent)
        for (token, name) in Self.browsers where browserName.isEmpty {
            guard let version = Self.version(after: token, in: userAgent) else { continue }
            (browserName, browserVersion, sdkVersion) = (name, version, "")
        }
        if let (token, name) = Self.systems.first(where: { userAgent.contains($0.token) }) {
            osName = name
            osVersion = Self.version(after: token, in: userAgent) ?? ""
        }
    }

    /// In the order of trust: every Chromium also calls itself Safari, Edge also Chrome.
    private static let browsers = [("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Version/", "Safari")]
    private static let systems: [(token: String, name: String)] = [
        ("Windows NT ", "Windows"), ("Windows", "Windows"), ("Android ", "Android"), ("iPhone OS ", "iOS"),
        ("Mac OS X ", "macOS"), ("Mac OS", "macOS"), ("Linux", "Linux"),
    ]

    private static func version(after token: String, in text: String) -> String? {
        var rest = Substring(text)
        while !rest.isEmpty {
            if rest.hasPrefix(token) {
                let version = rest.dropFirst(token.count).prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_") }
                return sanitised(version.map { $0 == "_" ? "." : String($0) }.joined())
            }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Keeps `[a-zA-Z0-9-_.,:;\s]`; anything else becomes a space.
    private static func sanitised(_ text: String) -> String {
        let kept = text.unicodeScalars.prefix(maximumLength).map { scalar in
            let isAllowed =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-_.,:; ".unicodeScalars.contains(scalar))
            return isAllowed ? Character(scalar) : " "
        }
        return String(kept)
    }
}
