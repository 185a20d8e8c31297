public import Admission
public import JSON
public import Refusals
public import Wire

/// An encoder that was turned away, or cut off with words.
public struct RefusedAttempt: Sendable, Equatable {
    public var ingestProtocol: IngestProtocol
    public var source: SocketAddress
    public var userAgent: String
    public var refusal: Refusal
    /// Who it was, where the credential was good.
    public var grant: PublishGrant?
    /// It was publishing until then.
    public var wasLive = false
    /// It asked what to be set to and connected nowhere: no publish was attempted.
    public var isInquiry = false
    /// The id of its session, where it had one; the rules that it kept and broke stand there.
    public var sessionID: String?
    /// Tells the stream key from others, where nobody knows whose it is: 64 bits of its SHA-256 in hexadecimal.
    public var credentialHash: String?
    public internal(set) var time = WallTime(nanosecondsSince1970: 0)

    public init(
        _ refusal: Refusal, of grant: PublishGrant?, by ingestProtocol: IngestProtocol, from source: SocketAddress,
        userAgent: String, wasLive: Bool = false, sessionID: String? = nil
    ) {
        (self.refusal, self.grant, self.ingestProtocol) = (refusal, grant, ingestProtocol)
        (self.source, self.userAgent, self.wasLive) = (source, userAgent, wasLive)
        self.sessionID = sessionID
    }
}

extension RefusedAttempt {
    /// As the console shows it: never the credential, only what was found of it.
    public var json: JSONValue {
        var object: JSONObject = [
            "time": .string(CivilTime(time).rfc3339), "protocol": .string(ingestProtocol.rawValue),
            "source": .string(source.description), "userAgent": .string(userAgent),
            "code": .string(refusal.code.identifier), "name": .string(refusal.code.name), "sentence": .string(refusal.sentence),
            "wasLive": .bool(wasLive),
        ]
        if let sessionID { object["sessionId"] = .string(sessionID) }
        if let credentialHash { object["credentialHash"] = .string(credentialHash) }
        if let grant {
            object["participantId"] = .string(grant.participantID)
            object["stageArn"] = .string(grant.stageARN)
        }
        return .object(object)
    }
}
