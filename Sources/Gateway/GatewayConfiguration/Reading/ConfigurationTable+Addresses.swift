extension ConfigurationTable {
    static let addresses: [Section] = [
        Section(
            "advertise", "What clients outside are told about this machine.",
            [
                Key(
                    "advertise.addresses", \.advertise.addresses, .restart,
                    "Public addresses or names for ICE, in place of those of the interfaces; auto, like none: these."),
                Key("advertise.host", \.advertise.host, .restart, "Host name for URLs; empty: the first address."),
                Key(
                    "advertise.mediaPort", \.advertise.mediaPort, .restart, in: 0...65_535,
                    "Public media port behind a NAT; 0: the bound one."),
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
            "tls", "TLS of HTTPS and RTMPS. Without a certificate one is made at the first start.",
            [
                Key("tls.certificate", \.tls.certificate, .live, "PEM file of the certificate and its chain."),
                Key("tls.privateKey", \.tls.privateKey, .live, "PEM file of its key."),
                Key("tls.minimumVersion", \.tls.minimumVersion, .live, "The oldest version taken."),
                Key(
                    "tls.handshakeTimeout", \.tls.handshakeTimeout, .restart, in: .seconds(1) ... .seconds(60),
                    "Time for the handshake, absolute."),
                Key(
                    "tls.handshakesPerSecond", \.tls.handshakesPerSecond, .restart, in: 1...10_000, unit: "handshakes a second",
                    "Anonymous handshakes per address (IPv6: /64); success raises an address's allowance."),
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
                    "Networks of balancers whose PROXY protocol v2 header and X-Forwarded-For are believed; RTMP from them must have it."
                )
            ]),
    ]

    static let contract = Section(
        "contract", "The media contract. Actions: disconnect, warn, off.",
        [
            Key("contract.videoCodec.action", \.contract.videoCodec, .live, "Video other than H.264, progressive."),
            Key("contract.profile.limit", \.contract.profile.limit, .live, "H.264 profiles taken, judged by the SPS."),
            Key("contract.profile.action", \.contract.profile.action, .live, "Other profiles."),
            Key("contract.bFrames.action", \.contract.bFrames, .live, "B-frames, judged by slice types."),
            Key(
                "contract.maximumResolution.limit", \.contract.maximumResolution.limit, .live, in: 25_600...35_389_440,
                unit: "pixels",
                "Greatest picture, width times height after cropping, in either orientation."),
            Key("contract.maximumResolution.action", \.contract.maximumResolution.action, .live, "Greater pictures."),
            Key(
                "contract.minimumResolution.limit", \.contract.minimumResolution.limit, .live, in: 16...4096, unit: "pixels",
                "Least short side of a picture."),
            Key("contract.minimumResolution.action", \.contract.minimumResolution.action, .live, "Smaller pictures."),
            Key(
                "contract.videoBitrate.limit", \.contract.videoBitrate.limit, .live, in: 100_000...200_000_000, unit: "bit/s",
                "Video as a leaky bucket that drains at 1.01 times this and holds 1.2 s of it."),
            Key("contract.videoBitrate.action", \.contract.videoBitrate.action, .live, "More than the bucket holds."),
            Key("contract.audioCodec.action", \.contract.audioCodec, .live, "Audio other than AAC-LC or Opus."),
            Key("contract.audioFormat.action", \.contract.audioFormat, .live, "Other than 1 or 2 channels at 44.1 or 48 kHz."),
            Key(
                "contract.tracks.limit", \.contract.tracks.limit, .live, in: .seconds(1) ... .seconds(60),
                "RTMP: both tracks must have come so long after the first media message."),
            Key("contract.tracks.action", \.contract.tracks.action, .live, "A missing track."),
            Key(
                "contract.publishDuration.limit", \.contract.publishDuration.limit, .live,
                in: .seconds(60) ... .seconds(366 * 86_400),
                "Longest publish."),
            Key("contract.publishDuration.action", \.contract.publishDuration.action, .live, "A longer one."),
            Key(
                "contract.audioBitrate.limit", \.contract.audioBitrate.limit, .live, in: 6000...10_000_000, unit: "bit/s",
                "Audio bitrate."),
            Key("contract.audioBitrate.action", \.contract.audioBitrate.action, .live, "More."),
            Key(
                "contract.frameRate.minimum", \.contract.frameRate.minimum, .live, in: 1...240, unit: "frames a second",
                "Lowest frame rate."),
            Key(
                "contract.frameRate.maximum", \.contract.frameRate.maximum, .live, in: 1...240, unit: "frames a second",
                "Highest frame rate."),
            Key("contract.frameRate.action", \.contract.frameRate.action, .live, "Another frame rate."),
            Key(
                "contract.keyframeInterval.limit", \.contract.keyframeInterval.limit, .live,
                in: .milliseconds(100) ... .seconds(60),
                "RTMP: longest time between IDR pictures, with 10 % to spare."),
            Key("contract.keyframeInterval.action", \.contract.keyframeInterval.action, .live, "A longer one."),
        ])
}

extension CertificateSettings: MapEntry {
    static let keys: [ConfigurationKey<CertificateSettings>] = [
        ConfigurationKey("certificate", \.certificate, .live, "PEM file of the certificate and its chain."),
        ConfigurationKey("privateKey", \.privateKey, .live, "PEM file of its key."),
    ]
}
