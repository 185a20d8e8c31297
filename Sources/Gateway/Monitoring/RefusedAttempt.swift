public import Admission
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
    public internal(set) var time = WallTime(nanosecondsSince1970: 0)

    public init(
        _ refusal: Refusal, of grant: PublishGrant?, by ingestProtocol: IngestProtocol, from source: SocketAddress,
        userAgent: String, wasLive: Bool = false
    ) {
        (self.refusal, self.grant, self.ingestProtocol) = (refusal, grant, ingestProtocol)
        (self.source, self.userAgent, self.wasLive) = (source, userAgent, wasLive)
    }
}
