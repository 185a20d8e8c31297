import JSON

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
        guard !stageID.isEmpty, stageARN.hasSuffix("/" + stageID) else { throw .invalidClaim("topic") }
        let capabilities = try claims.capabilities()
        self.init(
            participantID: participantID, stageARN: stageARN, stageID: stageID, issuedAt: try claims.integer("iat"),
            expiresAt: try claims.integer("exp"), eventsURL: try claims.string("events_url"),
            whipURL: try claims.string("whip_url"), allowsPublish: capabilities.publish,
            allowsSubscribe: capabilities.subscribe, userID: try claims.userID(), attributes: try claims.attributes())
        notBefore = object["nbf"] == nil ? nil : try claims.integer("nbf")
        guard expiresAt > issuedAt, expiresAt - issuedAt <= Self.maximumLifetime else { throw .invalidClaim("exp") }
    }
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
        guard userID.unicodeScalars.count <= ParticipantClaims.maximumUserIDLength else { throw .invalidClaim("user_id") }
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
            attributes[name] = text
        }
        guard length <= ParticipantClaims.maximumAttributesLength else { throw .invalidClaim("attributes") }
        return attributes
    }
}
