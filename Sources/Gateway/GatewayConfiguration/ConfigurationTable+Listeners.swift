import Settings

extension ConfigurationTable {
    static let listeners: [Section] = [
        Section(
            "http", "Public HTTP: WHIP, WHEP, the watch page, OBS's set-up; the test publisher, if switched on.",
            httpKeys("http", \.http)),
        Section("https", "The same over TLS.", httpKeys("https", \.https)),
        Section(
            "rtmp", "RTMP and RTMPS on one port, told apart by their first byte.",
            [
                Key("rtmp.listen", \.rtmp.listen, .restart, "Where to listen."),
                Key(
                    "rtmp.requiresTLS", \.rtmp.requiresTLS, .live,
                    "Refuses plain RTMP whatever an ingest configuration's insecureIngest says."),
                Key(
                    "rtmp.handshakeTimeout", \.rtmp.handshakeTimeout, .restart, in: .seconds(1) ... .seconds(60),
                    "Time limit of the RTMP handshake."),
                Key(
                    "rtmp.publishTimeout", \.rtmp.publishTimeout, .restart, in: .seconds(1) ... .seconds(120),
                    "Time limit from the connection to a granted publish; time in which we hold a publish does not count."),
                Key(
                    "rtmp.idleTimeout", \.rtmp.idleTimeout, .restart, in: .seconds(2) ... .seconds(300),
                    "A publisher that sends no media for this long is ended (SD-1028)."),
                Key("rtmp.maximumConnections", \.rtmp.maximumConnections, .restart, in: 1...1_000_000, "Connections at once."),
            ]),
        Section(
            "media", "ICE, DTLS and SRTP of every WHIP session on one port.",
            [
                Key("media.listen", \.media.listen, .restart, "Where to listen, UDP and TCP."),
                Key("media.tcp", \.media.tcp, .restart, "Offers ICE over TCP on the same port, for networks that block UDP."),
                Key(
                    "media.receiveBuffer", \.media.receiveBuffer, .restart, in: .kibibytes(64) ... .mebibytes(256),
                    "Kernel buffer of each worker's socket; the kernel's net.core.rmem_max bounds it."),
            ]),
        Section(
            "listen", "One port for networks that let nothing else out, beside the listeners above or in place of them.",
            [
                Key(
                    "listen.shared", \.listen.shared, .restart,
                    "Where HTTPS, RTMPS and ICE over TCP come in together, told apart by their first bytes; such as [::]:443.")
            ]),
        Section(
            "whip", "WHIP sessions (RFC 9725).",
            [
                Key(
                    "whip.pendingTimeout", \.whip.pendingTimeout, .restart, in: .seconds(5) ... .seconds(60),
                    "Time from the offer to the beginning of the DTLS handshake."),
                Key(
                    "whip.strictETags", \.whip.strictETags, .restart,
                    "Refuses a PATCH without If-Match (RFC 9725 §4.3.1) instead of taking it for the current ICE session."),
                Key(
                    "whip.consentTimeout", \.whip.consentTimeout, .restart, in: .seconds(5) ... .seconds(120),
                    "A session ends when nothing genuine came from its peer for this long (RFC 7675)."),
                Key("whip.iceServers", \.whip.iceServers, .restart, "STUN and TURN URLs told to clients in Link fields."),
                Key(
                    "whip.turnSecret", \.whip.turnSecret, .restart,
                    "Shared with the TURN servers (coturn: static-auth-secret): each session gets credentials of its own."),
                Key(
                    "whip.turnLifetime", \.whip.turnLifetime, .restart, in: .seconds(60) ... .seconds(7 * 86_400),
                    "How long those credentials are valid."),
            ]),
        Section(
            "watch", "Pages for trying things.",
            [
                Key("watch.publishPage", \.watch.publishPage, .restart, "Serves the test publisher at /publish.")
            ]),
        Section(
            "admin", "The control API, CloudWatch's API for metrics, the console, /v1/, /metrics, /livez and /readyz.",
            [
                Key("admin.listen", \.admin.listen, .restart, "Where to listen. Keep it off the Internet."),
                Key("admin.auth", \.admin.auth, .restart, "How requests are authenticated; none is for loopback only."),
                Key(
                    "admin.hosts", \.admin.hosts, .live, "Host names taken besides loopback; others are refused (DNS rebinding)."),
                Key(
                    "admin.requestTimeout", \.admin.requestTimeout, .restart, in: .seconds(1) ... .seconds(60),
                    "Time limit for a whole request to arrive."),
                Key("admin.maximumConnections", \.admin.maximumConnections, .restart, in: 1...100_000, "Connections at once."),
            ]),
        Section(
            ConfigurationMap(
                "accessKeys", \.accessKeys, example: "operations",
                "Keys of the control API (SigV4), by names of your choice. Quickstart makes one of its own.")),
    ]

    private static func httpKeys(_ name: String, _ section: any SettingPath<StagedoorConfiguration, HTTPSettings>) -> [Key] {
        HTTPSettings.keys.map { Key($0, in: section, at: name) }
    }
}

extension HTTPSettings {
    static let keys: [ConfigurationKey<HTTPSettings>] = [
        ConfigurationKey("listen", \.listen, .restart, "Where to listen."),
        ConfigurationKey(
            "requestTimeout", \.requestTimeout, .restart, in: .seconds(1) ... .seconds(60),
            "Time limit for a whole request to arrive."),
        ConfigurationKey(
            "idleTimeout", \.idleTimeout, .restart, in: .seconds(1) ... .seconds(600),
            "How long a connection waits for its next request."),
        ConfigurationKey("maximumConnections", \.maximumConnections, .restart, in: 1...1_000_000, "Connections at once."),
        ConfigurationKey(
            "maximumBodySize", \.maximumBodySize, .restart, in: .kibibytes(4) ... .mebibytes(1),
            "Largest request body: offers and candidates."),
    ]
}

extension AccessKeySettings: MapEntry {
    static let keys: [ConfigurationKey<AccessKeySettings>] = [
        ConfigurationKey("id", \.id, .live, "The access key id that clients send."),
        ConfigurationKey("secret", \.secret, .live, "The secret access key."),
        ConfigurationKey("readOnly", \.readOnly, .live, "It may only Get and List, whatever allow says."),
        ConfigurationKey("allow", \.allow, .live, "What it may do: actions of docs/api.md."),
        ConfigurationKey("deny", \.deny, .live, "What it may not do, whatever allow says."),
        ConfigurationKey(
            "resources", \.resources, .live, "The stages that it may do it on; what concerns no single stage needs *."),
    ]
}
