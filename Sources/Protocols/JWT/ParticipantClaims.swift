/// What a participant token says: who may do what on which stage, from when to when.
public struct ParticipantClaims: Equatable, Sendable {
    /// Characters of `jti`, at most.
    public static let maximumParticipantIDLength = 64
    /// Characters of `user_id`, at most.
    public static let maximumUserIDLength = 128
    /// Bytes of all attribute names and values together, at most.
    public static let maximumAttributesLength = 1_024
    /// Seconds between `iat` and `exp`, at most: 14 days.
    public static let maximumLifetime: Int64 = 1_209_600

    /// `exp`, in seconds since 1970.
    public var expiresAt: Int64
    /// `iat`, in seconds since 1970.
    public var issuedAt: Int64
    /// `nbf`, in seconds since 1970, where there is one.
    public var notBefore: Int64?
    /// `jti`.
    public var participantID: String
    /// Empty when the token has none.
    public var userID: String
    /// `resource`: the stage's ARN.
    public var stageARN: String
    /// `topic`: the stage's id, which is also the end of its ARN.
    public var stageID: String
    public var eventsURL: String
    public var whipURL: String
    public var allowsPublish: Bool
    public var allowsSubscribe: Bool
    public var attributes: [String: String]

    public init(
        participantID: String, stageARN: String, stageID: String, issuedAt: Int64, expiresAt: Int64, eventsURL: String,
        whipURL: String, allowsPublish: Bool, allowsSubscribe: Bool, userID: String = "", attributes: [String: String] = [:]
    ) {
        (self.participantID, self.stageARN, self.stageID) = (participantID, stageARN, stageID)
        (self.issuedAt, self.expiresAt, notBefore) = (issuedAt, expiresAt, nil)
        (self.eventsURL, self.whipURL) = (eventsURL, whipURL)
        (self.allowsPublish, self.allowsSubscribe) = (allowsPublish, allowsSubscribe)
        (self.userID, self.attributes) = (userID, attributes)
    }

    /// Whether `text` may be a participant's id: 1 to 64 of `[a-zA-Z0-9-_]`.
    public static func isParticipantID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumParticipantIDLength
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
