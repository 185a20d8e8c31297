import Settings

extension ConfigurationTable {
    static let addresses: [Section] = [
        Section(
            "advertise", "What clients outside are told about this machine.",
            [
                Key(
                    "advertise.addresses", \.advertise.addresses, .restart,
                    "Public addresses or names for ICE; auto, and an empty list, stand for those of the interfaces."),
                Key(
                    "advertise.host", \.advertise.host, .restart,
                    "Host name or IP address in URLs; empty: the listener's, or the first of addresses if it has all."),
                Key(
                    "advertise.mediaPort", \.advertise.mediaPort, .restart, in: 0...65_535,
                    "Public media port behind a NAT; 0: the bound one."),
                Key(
                    "advertise.sharedPort", \.advertise.sharedPort, .restart, in: 0...65_535,
                    "Public number of listen.shared behind a NAT, for URLs and ICE; 0: the bound one."),
            ]),
        Section(
            "endpoints", "URLs that stages hand out; empty ones are made from the listeners and advertise.host.",
            [
                Key("endpoints.whip", \.endpoints.whip, .restart, "The WHIP endpoint."),
                Key("endpoints.rtmp", \.endpoints.rtmp, .restart, "The RTMP endpoint."),
                Key("endpoints.rtmps", \.endpoints.rtmps, .restart, "The RTMPS endpoint."),
                Key("endpoints.events", \.endpoints.events, .restart, "The events URL; nothing is served there."),
            ]),
        Section(
            "tls", "TLS of HTTPS and RTMPS. Without a certificate the gateway makes one, for trying things.",
            [
                Key("tls.certificate", \.tls.certificate, .live, "PEM file of the certificate and its chain."),
                Key("tls.privateKey", \.tls.privateKey, .live, "PEM file of its key."),
                Key("tls.minimumVersion", \.tls.minimumVersion, .live, "The oldest TLS version that is taken."),
                Key(
                    "tls.handshakeTimeout", \.tls.handshakeTimeout, .restart, in: .seconds(1) ... .seconds(60),
                    "Time limit of the handshake."),
                Key(
                    "tls.handshakesPerSecond", \.tls.handshakesPerSecond, .restart, in: 1...10_000, unit: "handshakes a second",
                    "Anonymous TLS handshakes per address (IPv6: /64) and worker; success raises an address's allowance."),
            ]),
        Section(
            ConfigurationMap(
                "certificates", \.certificates, example: "second",
                "Further certificates, chosen by the host name that the client asks for.")),
        Section(
            "trustedProxies", "",
            [
                Key(
                    "trustedProxies", \.trustedProxies, .restart,
                    "Networks of balancers whose PROXY protocol v2 header and X-Forwarded-* are believed; RTMP from them must have it."
                )
            ]),
    ]
}

extension CertificateSettings: MapEntry {
    static let keys: [ConfigurationKey<CertificateSettings>] = [
        ConfigurationKey("certificate", \.certificate, .live, "PEM file of the certificate and its chain."),
        ConfigurationKey("privateKey", \.privateKey, .live, "PEM file of its key."),
    ]
}
