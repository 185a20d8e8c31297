import JSON
import JWT
public import OpenSSL
public import Wire

/// The key that the server made for itself, with which it signs the tokens of CreateParticipantToken.
public struct TokenAuthority: Sendable {
    /// A minted token with what the API tells about it.
    public struct Minted: Sendable {
        public var participantID: String
        public var token: Secret
        public var expirationTime: WallTime
    }

    /// What a participant may do, who it is, and for how long.
    public struct Request: Sendable {
        public var participantID: String
        public var userID = ""
        public var attributes: [String: String] = [:]
        public var allowsPublish = true
        public var allowsSubscribe = true
        /// 1 to 20,160.
        public var minutes = 720

        public init(participantID: String = Identifier.resource()) { self.participantID = participantID }
    }

    /// The `kid` of its tokens: shaped like a public key's ARN, and in no list.
    public let keyID: String
    private let key: ES384PrivateKey

    private enum Name {
        static let key = "tokenAuthority.key"
        static let keyID = "tokenAuthority.keyID"
    }

    /// Takes up the key of an earlier start, or makes one.
    public init(in transaction: inout StateTransaction, names: ResourceName) throws(ES384Error) {
        if let pem = transaction.state.setting(Name.key), let keyID = transaction.state.setting(Name.keyID) {
            try self.init(keyID: keyID.revealText(), privateKey: pem)
            return
        }
        try self.init(keyID: names.arn(.publicKey, Identifier.uuid()), key: ES384PrivateKey.generate())
        transaction.setSetting(Name.key, to: Secret(key.pem))
        transaction.setSetting(Name.keyID, to: Secret(keyID))
    }

    /// For `stagedoor token`: signs with a key pair of the operator's, offline.
    ///
    /// - Parameter keyID: the ARN that ImportPublicKey gave its public half.
    /// - Parameter privateKey: PEM, EC P-384.
    public init(keyID: String, privateKey: Secret) throws(ES384Error) {
        self.init(keyID: keyID, key: try ES384PrivateKey(pem: privateKey.reveal()))
    }

    private init(keyID: String, key: ES384PrivateKey) { (self.keyID, self.key) = (keyID, key) }

    var publicKey: ES384PublicKey { key.publicKey }

    /// Signs a token for the stage; nothing of it is stored.
    public func mint(
        _ request: Request, stageARN: String, endpoints: StageEndpoints, now: WallTime
    ) throws(ES384Error) -> Minted {
        let issued = now.secondsSince1970
        let expires = issued + Int64(request.minutes) * 60
        let claims = ParticipantClaims(
            participantID: request.participantID, stageARN: stageARN, stageID: ResourceName.identifier(inARN: stageARN),
            issuedAt: issued, expiresAt: expires, eventsURL: endpoints.events, whipURL: endpoints.whip,
            allowsPublish: request.allowsPublish, allowsSubscribe: request.allowsSubscribe, userID: request.userID,
            attributes: request.attributes)
        let input = CompactToken.signingInput(keyID: keyID, payload: claims.payload)
        let token = CompactToken.serialized(signingInput: input, signature: try key.sign(input))
        return Minted(
            participantID: request.participantID, token: Secret(token), expirationTime: WallTime(secondsSince1970: expires))
    }
}
