import Wire

/// How clients outside reach this machine.
public struct AdvertiseSettings: Equatable, Sendable {
    /// Public addresses or names for ICE, in place of those of the interfaces; auto, like none: these.
    public var addresses: [AdvertisedAddress] = []
    /// In URLs, an IPv6 address in brackets or bare; empty: where the listener is bound, or `publicName` if that is everywhere.
    public var host = ""
    /// 0: the bound one.
    public var mediaPort = 0
    /// 0: the bound one.
    public var sharedPort = 0

    public init() {}

    /// What clients outside know this machine by, as URLs and our own certificate say: `host`, or the first of `addresses` that
    /// somebody wrote down; empty where there is neither.
    public var publicName: String {
        if host.hasPrefix("[") { return String(host.dropFirst().dropLast()) }
        if !host.isEmpty { return host }
        return addresses.lazy.compactMap { address -> String? in
            switch address {
            case .address(let ip): ip.description
            case .name(let name): name
            case .interfaces: nil
            }
        }.first ?? ""
    }
}

/// The URLs that stages hand out; empty ones are made from `advertise.host` and the listeners.
public struct EndpointSettings: Equatable, Sendable {
    /// The WHIP endpoint.
    public var whip = ""
    /// The RTMP endpoint.
    public var rtmp = ""
    /// The RTMPS endpoint.
    public var rtmps = ""
    /// The events URL; nothing is served there.
    public var events = ""

    public init() {}
}

/// TLS of HTTPS and RTMPS.
public struct TLSSettings: Equatable, Sendable {
    public enum Version: String, CaseIterable, Sendable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    /// PEM file of the certificate and its chain.
    public var certificate = ""
    /// PEM file of its key.
    public var privateKey = ""
    /// The oldest version taken.
    public var minimumVersion = Version.tls12
    /// Time for the handshake, absolute.
    public var handshakeTimeout = Duration.seconds(5)
    /// Anonymous handshakes per address (IPv6: /64), by each worker; success raises an address's allowance.
    public var handshakesPerSecond = 10

    public init() {}
}

/// A certificate and its key, PEM files.
public struct CertificateSettings: Equatable, Sendable {
    /// PEM file of the certificate and its chain.
    public var certificate = ""
    /// PEM file of its key.
    public var privateKey = ""

    public init() {}
}
