public import Wire

/// A public HTTP or HTTPS listener: WHIP, and the test publisher where it is on.
public struct HTTPSettings: Equatable, Sendable {
    public var listen: ListenAddress
    public var requestTimeout = Duration.seconds(10)
    public var idleTimeout = Duration.seconds(60)
    public var maximumConnections = 2000
    public var maximumBodySize = ByteSize.kibibytes(64)

    public init(listen: ListenAddress) { self.listen = listen }
}

/// RTMP and RTMPS, which share one port.
public struct RTMPSettings: Equatable, Sendable {
    public var listen = ListenAddress(SocketAddress(.anyV6, port: 1935))
    public var requiresTLS = false
    public var handshakeTimeout = Duration.seconds(5)
    public var publishTimeout = Duration.seconds(10)
    public var idleTimeout = Duration.seconds(15)
    public var maximumConnections = 2000

    public init() {}
}

/// The one port of ICE, DTLS and SRTP.
public struct MediaSettings: Equatable, Sendable {
    public var listen = ListenAddress(SocketAddress(.anyV6, port: 3478))
    public var tcp = true
    public var receiveBuffer = ByteSize.mebibytes(8)

    public init() {}
}

/// WHIP (RFC 9725).
public struct WHIPSettings: Equatable, Sendable {
    public var pendingTimeout = Duration.seconds(15)
    public var consentTimeout = Duration.seconds(30)
    public var usesStrictETags = false
    public var iceServers: [String] = []
    public var turnSecret = Secret("")
    public var turnLifetime = Duration.seconds(86_400)

    public init() {}
}

/// Pages for trying things.
public struct WatchSettings: Equatable, Sendable {
    public var hasPublishPage = false

    public init() {}
}

/// The control API, the console, health and metrics.
public struct AdminSettings: Equatable, Sendable {
    public enum Authentication: String, CaseIterable, Sendable {
        case sigv4
        case none
    }

    public var listen = ListenAddress(SocketAddress(.loopback, port: 8088))
    public var auth = Authentication.sigv4
    public var hosts: [String] = []
    public var requestTimeout = Duration.seconds(10)
    public var maximumConnections = 256

    public init() {}
}

extension AdminSettings.Authentication: ChoiceValue {}
