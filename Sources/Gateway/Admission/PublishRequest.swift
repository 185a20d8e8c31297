public import Wire

/// What an encoder shows of itself.
public struct PublishRequest: Sendable {
    /// What it proves its right by.
    public enum Credential: Sendable {
        /// The publish name of RTMP, up to its query.
        case streamKey(Secret)
        /// The bearer token of WHIP.
        case token(Secret)
    }

    public var credential: Credential
    public var ingestProtocol: IngestProtocol
    /// The encoder's address, or what a trusted balancer says that it is.
    public var source: SocketAddress
    /// flashVer or User-Agent as sent, at most 256 bytes.
    public var userAgent: String
    /// A digest of what the encoder's settings decide of its offer; empty where it shows none before its media.
    public var settingsDigest = ""
    /// Whoever makes the request gives it back when the publish is live, or over.
    public let place = PublishPlace()

    public init(credential: Credential, ingestProtocol: IngestProtocol, source: SocketAddress, userAgent: String) {
        (self.credential, self.ingestProtocol) = (credential, ingestProtocol)
        (self.source, self.userAgent) = (source, userAgent)
    }
}

/// How a publisher came in, as participants and events report it (`ParticipantProtocol` of the API model).
public enum IngestProtocol: String, Sendable, Codable, Equatable {
    case rtmp = "RTMP"
    case rtmps = "RTMPS"
    case whip = "WHIP"
}
