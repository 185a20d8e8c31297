public import Wire

/// How the RTMP front end waits, and what it holds before it knows a peer (docs/design.md 7.5).
public struct RTMPIngestSettings: Sendable {
    /// From accepting to the end of the handshake, TLS included.
    public var handshakeTimeout = Duration.seconds(5)
    /// From accepting to `publish`, and from one publish's end to the next; time in which publish waits for us is not counted.
    public var publishTimeout = Duration.seconds(10)
    /// Whoever decides about a publish must have done so by then; being held behind a live key counts too.
    public var decisionTimeout = Duration.seconds(30)
    /// Without media for this long a publish ends.
    public var silenceTimeout = Duration.seconds(10)
    /// How long the incumbent of a key must be silent for a new attempt to take over (docs/design.md 7.3).
    public var takeoverSilence = Duration.seconds(2)
    /// Between words of refusal and FIN: encoders read slowly.
    public var lingering = Duration.milliseconds(500)
    /// Balancers that speak for others: they must begin with a PROXY protocol header, version 2.
    public var trustedProxies: [IPNetwork] = []
    /// Connections of the whole process that have not published yet.
    public var maximumUnauthenticatedConnections = 2_000
    /// The same for one IPv4 address or IPv6 /64. Publishing connections do not count.
    public var maximumUnauthenticatedPerAddress = 64

    public init() {}
}
