public import Wire

/// A public HTTP or HTTPS listener: WHIP, WHEP, the watch page, what sets up OBS; the test publisher where it is on.
public struct HTTPSettings: Equatable, Sendable {
    /// Where to listen.
    public var listen: ListenAddress
    /// For a request to arrive whole, absolute.
    public var requestTimeout = Duration.seconds(10)
    /// A kept connection without a request is closed after so long.
    public var idleTimeout = Duration.seconds(60)
    /// Connections at once.
    public var maximumConnections = 2000
    /// Greatest request body: offers and candidates.
    public var maximumBodySize = ByteSize.kibibytes(64)

    public init(listen: ListenAddress) { self.listen = listen }
}

/// RTMP and RTMPS, which share one port.
public struct RTMPSettings: Equatable, Sendable {
    /// Where to listen.
    public var listen = ListenAddress(SocketAddress(.anyV6, port: 1935))
    /// Refuses plain RTMP whatever an ingest configuration's insecureIngest says.
    public var requiresTLS = false
    /// From accepting to the end of the handshake, TLS included.
    public var handshakeTimeout = Duration.seconds(5)
    /// From accepting to `publish`, and from one publish's end to the next; time in which publish waits for us is not counted.
    public var publishTimeout = Duration.seconds(10)
    /// Without media for this long a publish ends.
    public var idleTimeout = Duration.seconds(15)
    /// Connections at once.
    public var maximumConnections = 2000

    // Without a key in the file (docs/design.md 7.5).

    /// Whoever decides about a publish must have done so by then; being held behind a live key counts too.
    public var decisionTimeout = Duration.seconds(30)
    /// How long the incumbent of a key must be silent for a new attempt to take over (docs/design.md 7.3).
    public var takeoverSilence = Duration.seconds(2)
    /// Between words of refusal and FIN: encoders read slowly.
    public var lingering = Duration.milliseconds(500)

    public init() {}
}

/// One port for networks that let nothing else out.
public struct SharedPortSettings: Equatable, Sendable {
    /// Where HTTPS, RTMPS and ICE over TCP are served together.
    public var shared = ListenAddress.off

    // Without a key in the file.

    /// Until it is known what a connection speaks, beside the time for its TLS handshake.
    public var patience = Duration.seconds(5)

    public init() {}
}

/// The one port of ICE, DTLS and SRTP.
public struct MediaSettings: Equatable, Sendable {
    /// Where to listen, UDP and TCP.
    public var listen = ListenAddress(SocketAddress(.anyV6, port: 3478))
    /// Offers ICE over TCP on the same port, for networks that block UDP.
    public var tcp = true
    /// Kernel buffer of each worker's socket; the kernel's net.core.rmem_max bounds it.
    public var receiveBuffer = ByteSize.mebibytes(8)

    public init() {}
}

/// WHIP (RFC 9725), and what WHEP's sessions have in common with it.
public struct WHIPSettings: Equatable, Sendable {
    /// A session that nobody claimed by then is gone.
    public var pendingTimeout = Duration.seconds(15)
    /// Nothing genuine from a peer for this long (RFC 7675) ends its session.
    public var consentTimeout = Duration.seconds(30)
    /// Whether a PATCH without If-Match is refused (RFC 9725 §4.3.1) or taken for the current ICE session.
    public var strictETags = false
    /// URLs of STUN and TURN servers, handed out in Link fields (RFC 9725 §4.6).
    public var iceServers: [String] = []
    /// The shared secret of TURN's REST credentials.
    public var turnSecret = Secret("")
    /// How long those credentials hold.
    public var turnLifetime = Duration.seconds(86_400)

    // Without a key in the file.

    /// DTLS must be done this long after it began.
    public var handshakeTimeout = Duration.seconds(10)

    public init() {}
}

/// Pages for trying things.
public struct WatchSettings: Equatable, Sendable {
    /// Serves the test publisher at /publish.
    public var publishPage = false

    public init() {}
}

/// The control API, the console, health and metrics.
public struct AdminSettings: Equatable, Sendable {
    public enum Authentication: String, CaseIterable, Sendable {
        case sigv4
        case none
    }

    /// Where to listen. Keep it off the Internet.
    public var listen = ListenAddress(SocketAddress(.loopback, port: 8088))
    /// How requests are authenticated; none is for loopback only.
    public var auth = Authentication.sigv4
    /// Names that `Host` may have beside loopback ones, without ports.
    public var hosts: [String] = []
    /// Time for a request to arrive whole.
    public var requestTimeout = Duration.seconds(10)
    /// Connections at once.
    public var maximumConnections = 256

    // Without a key in the file.

    public var idleTimeout = Duration.seconds(60)
    public var maximumBodySize = ByteSize.mebibytes(1)

    public init() {}

    /// False only on a loopback address: then nobody has to sign.
    public var demandsSignature: Bool { auth == .sigv4 || !listen.isLoopback }
}
