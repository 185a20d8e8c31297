/// How clients outside reach this machine.
public struct AdvertiseSettings: Equatable, Sendable {
    public var addresses: [AdvertisedAddress] = []
    public var host = ""
    /// 0: the bound one.
    public var mediaPort = 0

    public init() {}
}

/// The URLs that stages hand out; empty ones are made from `advertise.host` and the listeners.
public struct EndpointSettings: Equatable, Sendable {
    public var whip = ""
    public var rtmp = ""
    public var rtmps = ""
    public var events = ""

    public init() {}
}

/// TLS of HTTPS and RTMPS.
public struct TLSSettings: Equatable, Sendable {
    public enum Version: String, CaseIterable, Sendable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    public var certificate = ""
    public var privateKey = ""
    public var minimumVersion = Version.tls12
    public var handshakeTimeout = Duration.seconds(5)
    public var handshakesPerSecond = 10

    public init() {}
}

/// A certificate and its key, PEM files.
public struct CertificateSettings: Equatable, Sendable {
    public var certificate = ""
    public var privateKey = ""

    public init() {}
}
