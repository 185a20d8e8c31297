public import Refusals
public import Wire

/// What a subscriber of the embedded router shows before it is let in.
public struct SubscribeRequest: Sendable {
    /// A participant token with the SUBSCRIBE capability.
    public var token: Secret
    /// The stage whose participants are to be watched.
    public var stageID: String
    /// The one that is to be watched; nil when a page asks who is live.
    public var participantID: String?
    public var source: SocketAddress
    /// What the viewer says of itself; empty when it says nothing.
    public var userAgent: String

    public init(token: Secret, stageID: String, participantID: String? = nil, source: SocketAddress, userAgent: String = "") {
        (self.token, self.stageID, self.participantID) = (token, stageID, participantID)
        (self.source, self.userAgent) = (source, userAgent)
    }
}

/// Who subscribes, once the token has been found good for the stage.
public struct SubscribeGrant: Sendable, Equatable {
    /// The participant of the token, which is not the one that is watched.
    public var participantID: String
    public var stageARN: String
    public var stageID: String
    public var userID: String
    /// Of the token.
    public var attributes: [String: String]
    /// What the viewer says of itself; empty when it says nothing.
    public var userAgent = ""
    /// The imported public key behind the token; nil when the gateway minted it.
    public var publicKeyARN: String?

    public init(
        participantID: String, stageARN: String, stageID: String, userID: String = "", attributes: [String: String] = [:],
        publicKeyARN: String? = nil
    ) {
        (self.participantID, self.stageARN, self.stageID) = (participantID, stageARN, stageID)
        (self.userID, self.attributes, self.publicKeyARN) = (userID, attributes, publicKeyARN)
    }
}

/// Decides who may subscribe to a stage. Asked from a worker, answered on a thread of its own choosing.
public protocol SubscribeAuthorizer: Sendable {
    /// Calls `reply` exactly once, on any thread, with the grant or the refusal to tell the subscriber.
    func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void)
}
