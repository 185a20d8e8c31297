public import Wire

/// One stage router.
public struct RouterSettings: Equatable, Sendable {
    public enum Driver: String, CaseIterable, Sendable {
        case announce
        case embedded
        case janus
        case `static`
    }

    /// Of simulcast and multitrack.
    public enum Layers: String, CaseIterable, Sendable {
        case auto
        case top
        case all
    }

    /// announce: the stage router protocol; embedded: WHEP in this process; janus: Janus's Streaming plugin; static: plain RTP.
    public var driver = Driver.static
    /// announce, janus: the router's HTTP or HTTPS URL.
    public var url = ""
    /// announce: sent as Bearer; janus: the API secret.
    public var token = Secret("")
    /// Networks to which media may be sent; none: what the URL's host resolves to, what answers there, and `host`.
    public var media: [IPNetwork] = []
    /// Sends SRTP (announce, janus, static). The keys of announce and janus travel to `url`: by https, or to this machine.
    public var srtp = false
    /// static: the IP address that media is sent to; janus: that too, where it is not its API's.
    public var host = ""
    /// static: ports; each participant takes the lowest free pair of even ones.
    public var ports = PortRange(5004, 5103)
    /// top: the best layer that lives; all: each of them, to routers that take them, and static: each to a port of its own;
    /// auto: top for static, all for the others.
    public var layers = Layers.auto
    /// PEM file that the router's certificate must descend from.
    public var certificateAuthority = ""
    /// PEM file of our client certificate.
    public var certificate = ""
    /// PEM file of its key.
    public var privateKey = ""

    public init() {}

    /// Whether each layer goes out by itself where it can.
    public var sendsLayers: Bool { layers == .all || layers == .auto && driver != .static }

    /// Whether nobody else reads what travels to a router's URL: verified HTTPS, whatever user it names, or this machine.
    /// SRTP keys may go nowhere else.
    public static func isPrivate(_ url: String) -> Bool {
        guard !url.hasPrefix("https://") else { return true }
        guard url.hasPrefix("http://") else { return false }
        let authority = url.dropFirst("http://".count).prefix { !"/?#".contains($0) }
        // What stands before an @ is a user, whatever it looks like.
        guard !authority.contains("@") else { return false }
        let host = authority.hasPrefix("[") ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        return host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// A receiver on this machine, which reads descriptions of the media in `DIR/sdp`.
    public static var local: RouterSettings {
        var settings = RouterSettings()
        settings.host = "127.0.0.1"
        return settings
    }

    /// In this process: WHEP, and the watch page.
    public static var embedded: RouterSettings {
        var settings = RouterSettings()
        settings.driver = .embedded
        return settings
    }
}

/// The router in this process.
public struct EmbeddedSettings: Equatable, Sendable {
    /// Subscribers at a time, those not yet connected included: in all, and of one stage, address or token.
    public var maximumSubscribers = 50
    /// Of them those of one stage.
    public var subscribersPerStage = 40
    /// Of them those from one address (IPv6: /64). Loopback is not counted.
    public var subscribersPerAddress = 32
    /// Of them those of one token: its newest displaces its oldest that is not connected yet.
    public var subscribersPerToken = 16
    /// Bits a second of all that one viewer takes, in however many sessions.
    public var viewerBitrate = 8_500_000

    // Without a key in the file.

    /// How long one session may watch.
    public var sessionDuration = Duration.seconds(86_400)

    /// How long a subscriber waits for a participant who left, before its session ends.
    public var absence = Duration.seconds(10)

    public init() {}
}

/// How streams are sent to routers.
public struct ForwardingSettings: Equatable, Sendable {
    /// Routers that get each participant.
    public var replicas = 1

    public init() {}
}

/// AAC to Opus.
public struct TranscodingSettings: Equatable, Sendable {
    /// 0: half the CPUs.
    public var threads = 0
    /// Opus's, 0 to 10: processor time against quality.
    public var complexity = 1
    /// Bits per second (docs/design.md 5.4).
    public var stereoBitrate = 96_000
    public var monoBitrate = 64_000

    public init() {}

    /// `threads`, or half of the processors, rounded up.
    public func threadCount(processors: Int) -> Int { threads > 0 ? threads : (processors + 1) / 2 }
}
