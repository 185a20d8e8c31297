public import Wire

/// Everything an operator can set, as one value: what the file, the environment and the defaults say together.
///
/// Each section is a type whose initial values are the defaults; `ConfigurationTable` says how its keys are called and what they
/// take. A value read by `ConfigurationLoader` has been validated as a whole.
public struct StagedoorConfiguration: Equatable, Sendable {
    public var http = HTTPSettings(listen: ListenAddress(SocketAddress(.anyV6, port: 8080)))
    public var https = HTTPSettings(listen: ListenAddress(SocketAddress(.anyV6, port: 8443)))
    public var rtmp = RTMPSettings()
    public var media = MediaSettings()
    public var listen = SharedPortSettings()
    public var whip = WHIPSettings()
    public var watch = WatchSettings()
    public var admin = AdminSettings()
    /// Access keys of the control API by a name of the operator's.
    public var accessKeys: [String: AccessKeySettings] = [:]
    public var advertise = AdvertiseSettings()
    public var endpoints = EndpointSettings()
    public var tls = TLSSettings()
    /// Further certificates, chosen by the names they carry (SNI).
    public var certificates: [String: CertificateSettings] = [:]
    /// Networks of balancers whose PROXY header and X-Forwarded-* are believed.
    public var trustedProxies: [IPNetwork] = []
    public var contract = ContractSettings()
    /// Stage routers by name.
    public var routers: [String: RouterSettings] = ["embedded": .embedded, "local": .local]
    public var embedded = EmbeddedSettings()
    public var forwarding = ForwardingSettings()
    public var transcoding = TranscodingSettings()
    public var platform = PlatformSettings()
    public var tokens = TokenSettings()
    public var quotas = QuotaSettings()
    public var rates = RateSettings()
    public var limits = LimitSettings()
    public var overload = OverloadSettings()
    public var authorize = AuthorizeSettings()
    public var events = EventSettings()
    /// Webhooks by name.
    public var webhooks: [String: WebhookSettings] = [:]
    public var store = StoreSettings()
    /// Buckets for recordings by name.
    public var storage: [String: StorageSettings] = [:]
    public var recording = RecordingSettings()
    public var cluster = ClusterSettings()
    public var logging = LoggingSettings()
    public var metrics = MetricsSettings()
    public var drain = DrainSettings()
    public var workers = WorkerSettings()

    /// The defaults.
    public init() {}
}
