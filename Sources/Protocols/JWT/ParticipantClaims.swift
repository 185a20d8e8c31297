public import JSON

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
    /// `events_url`, handed out and not used here.
    public var eventsURL: String
    /// `whip_url`: where the token's owner publishes.
    public var whipURL: String
    /// `capabilities.allow_publish`.
    public var allowsPublish: Bool
    /// `capabilities.allow_subscribe`.
    public var allowsSubscribe: Bool
    /// Names and values, at most `maximumAttributesLength` bytes of them.
    public var attributes: [String: String]

    /// Claims without `nbf`. Nothing is checked: `init(parsing:)` does that.
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

extension ParticipantClaims {
    /// Seconds by which clocks may differ.
    public static let leeway: Int64 = 60

    /// Whether a token may be used at a moment.
    public enum Validity: Equatable, Sendable {
        /// It may be used.
        case valid
        /// `exp` is past, by more than the leeway.
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

extension ParticipantClaims {
    /// Reads the claims of a token's payload; claims that we do not know are ignored.
    ///
    /// - Throws: `.invalidJSON`, `.missingClaim`, `.invalidClaim`, each with the name.
    public init(parsing payload: [UInt8]) throws(JWTError) {
        guard case .object(let object)? = try? JSONValue(parsing: payload, limits: CompactToken.limits) else {
            throw .invalidJSON("payload")
        }
        let claims = ClaimReader(object)
        guard try claims.string("version") == "1.0" else { throw .invalidClaim("version") }
        let participantID = try claims.string("jti")
        guard Self.isParticipantID(participantID) else { throw .invalidClaim("jti") }
        let (stageARN, stageID) = (try claims.string("resource"), try claims.string("topic"))
        // Swift takes a Kelvin sign for a K, and so finds the stage; the history, Redis and file names do not.
        guard Self.isASCII(stageARN) else { throw .invalidClaim("resource") }
        guard !stageID.isEmpty, Self.isASCII(stageID), stageARN.hasSuffix("/" + stageID) else { throw .invalidClaim("topic") }
        let capabilities = try claims.capabilities()
        self.init(
            participantID: participantID, stageARN: stageARN, stageID: stageID, issuedAt: try claims.integer("iat"),
            expiresAt: try claims.integer("exp"), eventsURL: try claims.string("events_url"),
            whipURL: try claims.string("whip_url"), allowsPublish: capabilities.publish,
            allowsSubscribe: capabilities.subscribe, userID: try claims.userID(), attributes: try claims.attributes())
        notBefore = object["nbf"] == nil ? nil : try claims.integer("nbf")
        guard expiresAt > issuedAt, expiresAt - issuedAt <= Self.maximumLifetime else { throw .invalidClaim("exp") }
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
}

/// Takes claims out of a payload, each with its own errors.
private struct ClaimReader {
    /// Times beyond the year 9999 are nobody's.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    func string(_ name: String) throws(JWTError) -> String {
        guard let value = object[name] else { throw .missingClaim(name) }
        guard let text = value.string else { throw .invalidClaim(name) }
        return text
    }

    /// Whole seconds: a fraction or exponent is refused.
    func integer(_ name: String) throws(JWTError) -> Int64 {
        guard let value = object[name] else { throw .missingClaim(name) }
        guard case .integer(let number) = value, Self.times.contains(number) else { throw .invalidClaim(name) }
        return number
    }

    /// A capability that is not there is not granted.
    func capabilities() throws(JWTError) -> (publish: Bool, subscribe: Bool) {
        guard let value = object["capabilities"] else { throw .missingClaim("capabilities") }
        guard let capabilities = value.object else { throw .invalidClaim("capabilities") }
        func flag(_ name: String) throws(JWTError) -> Bool {
            guard let value = capabilities[name] else { return false }
            guard let flag = value.bool else { throw .invalidClaim("capabilities") }
            return flag
        }
        return (try flag("allow_publish"), try flag("allow_subscribe"))
    }

    func userID() throws(JWTError) -> String {
        guard object["user_id"] != nil else { return "" }
        let userID = try string("user_id")
        guard userID.unicodeScalars.count <= ParticipantClaims.maximumUserIDLength, !userID.utf8.contains(0) else {
            throw .invalidClaim("user_id")
        }
        return userID
    }

    func attributes() throws(JWTError) -> [String: String] {
        guard let value = object["attributes"] else { return [:] }
        guard let members = value.object else { throw .invalidClaim("attributes") }
        var attributes: [String: String] = [:]
        var length = 0
        for (name, value) in members.members {
            guard let text = value.string else { throw .invalidClaim("attributes") }
            length += name.utf8.count + text.utf8.count
            // Names that are one to Unicode, composed in different ways, would be one here: an attribute would be lost.
            guard attributes.updateValue(text, forKey: name) == nil else { throw .invalidClaim("attributes") }
        }
        guard length <= ParticipantClaims.maximumAttributesLength else { throw .invalidClaim("attributes") }
        return attributes
    }
}

extension ParticipantClaims {
    /// The payload as key-pair tokens have it, members in the order in which IVS documents them.
    public var payload: JSONObject {
        var object: JSONObject = [
            "exp": .integer(expiresAt), "iat": .integer(issuedAt), "jti": .string(participantID),
            "resource": .string(stageARN), "topic": .string(stageID), "events_url": .string(eventsURL),
            "whip_url": .string(whipURL),
        ]
        if let notBefore { object["nbf"] = .integer(notBefore) }
        if !userID.isEmpty { object["user_id"] = .string(userID) }
        object["capabilities"] = ["allow_publish": .bool(allowsPublish), "allow_subscribe": .bool(allowsSubscribe)]
        if !attributes.isEmpty {
            object["attributes"] = .object(
                JSONObject(attributes.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        }
        object["version"] = "1.0"
        return object
    }
}
