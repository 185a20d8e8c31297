import Settings

extension ConfigurationTable {
    static let routing: [Section] = [
        Section(
            ConfigurationMap(
                "routers", \.routers, example: "sfu",
                "Stage routers by name. Without any here: the embedded one, and a static one that sends to 127.0.0.1 from port 5004 on."
            )),
        Section(
            "embedded", "The router in this process (driver embedded): WHEP, to look at a stage; not for audiences.",
            [
                Key(
                    "embedded.maximumSubscribers", \.embedded.maximumSubscribers, .restart, in: 1...1000,
                    "Subscribers at a time; further ones are refused (SD-1141)."),
                Key(
                    "embedded.subscribersPerStage", \.embedded.subscribersPerStage, .restart, in: 1...1000,
                    "Of these, for one stage."),
                Key(
                    "embedded.subscribersPerAddress", \.embedded.subscribersPerAddress, .restart, in: 1...1000,
                    "Of these, from one address (IPv6: /64). Loopback is not counted."),
                Key(
                    "embedded.subscribersPerToken", \.embedded.subscribersPerToken, .restart, in: 1...1000,
                    "Of these, for one token: its newest displaces its oldest that is not connected yet."),
                Key(
                    "embedded.viewerBitrate", \.embedded.viewerBitrate, .restart, in: 200_000...100_000_000, unit: "bit/s",
                    "What one viewer (the participant of a token) may take in all its sessions together."),
            ]),
        Section(
            "forwarding", "How streams are sent to routers.",
            [
                Key("forwarding.replicas", \.forwarding.replicas, .restart, in: 1...8, "Routers that get each participant.")
            ]),
        Section(
            "transcoding", "AAC to Opus, on threads of its own.",
            [
                Key("transcoding.threads", \.transcoding.threads, .restart, in: 0...256, "Threads; 0: half the CPUs."),
                Key(
                    "transcoding.complexity", \.transcoding.complexity, .restart, in: 0...10,
                    "Opus complexity: CPU against quality."),
                Key(
                    "transcoding.stereoBitrate", \.transcoding.stereoBitrate, .restart, in: 6000...510_000, unit: "bit/s",
                    "Opus bitrate for two channels."),
                Key(
                    "transcoding.monoBitrate", \.transcoding.monoBitrate, .restart, in: 6000...510_000, unit: "bit/s",
                    "Opus bitrate for one channel."),
            ]),
    ]
}

extension RouterSettings: MapEntry {
    static let keys: [ConfigurationKey<RouterSettings>] = [
        ConfigurationKey(
            "driver", \.driver, .restart,
            "announce: the stage router protocol; embedded: WHEP in this process; janus: Janus's Streaming plugin; static: plain RTP to a host."
        ),
        ConfigurationKey("url", \.url, .restart, "announce, janus: the router's HTTP or HTTPS URL."),
        ConfigurationKey("token", \.token, .restart, "announce: sent as Bearer; janus: the API secret."),
        ConfigurationKey(
            "media", \.media, .restart,
            "Networks to which media may be sent; none: what the URL's host resolves to, what answers there, and host."),
        ConfigurationKey(
            "srtp", \.srtp, .restart,
            "Sends SRTP (announce, janus, static). The keys of announce and janus travel to url: by https, or to this machine."),
        ConfigurationKey(
            "host", \.host, .restart, "static: the IP address that media is sent to; janus: that too, if it is not its API's."),
        ConfigurationKey("ports", \.ports, .restart, "static: ports; each participant takes the lowest free pair of even ones."),
        ConfigurationKey(
            "layers", \.layers, .restart,
            "With simulcast and multitrack. top: the best active layer; all: each, if the router takes them (static: each to a port of its own); auto: top for static, all for the others."
        ),
        ConfigurationKey(
            "certificateAuthority", \.certificateAuthority, .restart, "PEM file that the router's certificate must descend from."),
        ConfigurationKey("certificate", \.certificate, .restart, "PEM file of our client certificate."),
        ConfigurationKey("privateKey", \.privateKey, .restart, "PEM file of its key."),
    ]
}
