import OpenSSL
public import Wire

/// How the sessions of the media port are made and kept. Checked by the configuration that it comes from.
public struct TransportConfiguration: Sendable {
    /// Addresses of the media port as clients reach it; they replace what interfaces say.
    public var advertisedAddresses: [SocketAddress]
    /// The port of ICE-TCP; nil offers none.
    public var tcpPort: UInt16?
    /// STUN and TURN servers handed out by Link headers.
    public var iceServers: [ICEServer] = []
    /// Nothing genuine from a peer for this long ends its session.
    public var silence: Duration = .seconds(30)
    /// A session that nobody claimed by then is gone.
    public var pendingLifetime: Duration = .seconds(15)
    /// DTLS must be done this long after it began.
    public var handshakeLifetime: Duration = .seconds(10)
    /// Whether a PATCH without If-Match is refused (RFC 9725 §4.3.1) or taken for the current ICE session.
    public var usesStrictETags = false
    /// Letters and digits; part of session ids.
    public var node = "n1"
    /// Below 64: tells this process's sessions from those of the one before.
    public var generation: UInt8 = 0
    /// Binds session ids to their tokens; the same for every process that may be asked for a session.
    public var sessionKey = Secret(Random.bytes(count: 32))

    public init(advertisedAddresses: [SocketAddress], tcpPort: UInt16? = nil) {
        (self.advertisedAddresses, self.tcpPort) = (advertisedAddresses, tcpPort)
    }
}

/// A STUN or TURN server for Link headers (RFC 9725 §4.6).
public struct ICEServer: Sendable, Equatable {
    /// `stun:host:port` or `turn:host:port?transport=udp`.
    public var url: String
    /// The shared secret of TURN's REST credentials; nil for STUN.
    public var sharedSecret: Secret?
    /// How long the credentials hold.
    public var lifetime: Duration

    public init(url: String, sharedSecret: Secret? = nil, lifetime: Duration = .seconds(86_400)) {
        (self.url, self.sharedSecret, self.lifetime) = (url, sharedSecret, lifetime)
    }
}
