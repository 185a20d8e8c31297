public import JSON

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
