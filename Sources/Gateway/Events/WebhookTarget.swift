public import Wire

/// One receiver of events, from configuration.
public struct WebhookTarget: Sendable {
    /// The name under which its outbox is kept.
    public var name: String
    public var url: String
    /// Signs every request; empty leaves them unsigned.
    public var secret: Secret
    public var timeout = Duration.seconds(5)
    /// A PEM file of who may sign its certificate; empty for the system's.
    public var certificateAuthority = ""

    public init(name: String, url: String, secret: Secret) { (self.name, self.url, self.secret) = (name, url, secret) }
}
