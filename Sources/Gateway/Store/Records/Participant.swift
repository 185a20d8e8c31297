public import Wire

/// A participant of one stage session, as GetParticipant shows it.
public struct Participant: Codable, Equatable, Sendable {
    public var stageARN: String
    public var sessionID: String
    public var participantID: String
    public var userID: String
    public var attributes: [String: String]
    /// CONNECTED or DISCONNECTED.
    public var isConnected: Bool
    /// Whether it ever published in this session.
    public var published: Bool
    public var firstJoinTime: WallTime
    /// `WHIP`, `RTMP` or `RTMPS`; empty for who has only watched.
    public var ingestProtocol: String
    /// Empty for tokens.
    public var ingestConfigurationARN: String
    public var client: ClientAttributes
    /// Nil while nothing of it was recorded. What `HistoryWrite.recording` says stays, whatever else is written.
    public var recording: ParticipantRecording?
    /// Nil while it is in no replication. What `HistoryWrite.replication` says stays, whatever else is written.
    public var replication: ParticipantReplication?
    /// The generation of the publish, or of the watching, that this is about; nil when it does neither. Not stored.
    public var generation: UInt64?
    /// Through which node of a cluster it watches, if it does. Not stored.
    public var node: String?

    public init(
        stageARN: String, sessionID: String, participantID: String, userID: String, attributes: [String: String],
        firstJoinTime: WallTime, ingestProtocol: String, ingestConfigurationARN: String, client: ClientAttributes
    ) {
        (self.stageARN, self.sessionID, self.participantID) = (stageARN, sessionID, participantID)
        (self.userID, self.attributes) = (userID, attributes)
        (isConnected, published, self.firstJoinTime) = (true, false, firstJoinTime)
        (self.ingestProtocol, self.ingestConfigurationARN) = (ingestProtocol, ingestConfigurationARN)
        self.client = client
    }
}

/// A participant that is connected to this gateway now, in which session; the history must not take it for abandoned.
public struct LivingParticipant: Codable, Hashable, Sendable {
    public var sessionID: String
    public var participantID: String

    public init(sessionID: String, participantID: String) { (self.sessionID, self.participantID) = (sessionID, participantID) }

    init(_ participant: Participant) {
        self.init(sessionID: participant.sessionID, participantID: participant.participantID)
    }
}

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
        while let first = rest.first {
            if rest.hasPrefix(token) {
                let version = rest.dropFirst(token.count).prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_") }
                return sanitised(version.map { $0 == "_" ? "." : String($0) }.joined())
            }
            _ = first
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
