public import Wire

/// One stage router.
public struct RouterSettings: Equatable, Sendable {
    public enum Driver: String, CaseIterable, Sendable {
        case announce
        case embedded
        case janus
        case `static`
    }

    public var driver = Driver.static
    public var url = ""
    public var token = Secret("")
    public var media: [IPNetwork] = []
    public var srtp = false
    public var host = ""
    public var ports = PortRange(5004, 5103)
    public var certificateAuthority = ""
    public var certificate = ""
    public var privateKey = ""

    public init() {}

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
    public var subscribersPerStage = 40
    public var subscribersPerAddress = 32
    public var subscribersPerToken = 16

    // Without a key in the file.

    /// How long a subscriber waits for a participant who left, before its session ends.
    public var absence = Duration.seconds(10)

    public init() {}
}

/// How streams are sent to routers.
public struct ForwardingSettings: Equatable, Sendable {
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
}
