import Settings

extension ConfigurationTable {
    static let operation: [Section] = [
        Section(
            "limits", "What strangers may cost.",
            [
                Key(
                    "limits.unauthenticatedConnections", \.limits.unauthenticatedConnections, .restart, in: 1...1_000_000,
                    "Connections that have not yet shown a credential; beyond it the oldest goes."),
                Key(
                    "limits.connectionsPerAddress", \.limits.connectionsPerAddress, .restart, in: 1...100_000,
                    """
                    Connections of one address (IPv6: /64). HTTP and HTTPS count all of them, each worker for itself; RTMP, the \
                    shared port and ICE over TCP count, for the whole node, those that do not publish or are not known yet. \
                    Success raises the address's allowance.
                    """),
                Key(
                    "limits.failuresPerMinute", \.limits.failuresPerMinute, .restart, in: 1...100_000, unit: "a minute",
                    "Failed authentications of one address."),
            ]),
        Section(
            "overload", "When new publishes are refused so that live ones do not suffer.",
            [
                Key(
                    "overload.maximumPublishers", \.overload.maximumPublishers, .live, in: 0...1_000_000,
                    "Publishers on this node; 0: as many as it can carry."),
                Key("overload.cpu", \.overload.cpu, .live, in: 10...100, unit: "percent", "Use of the granted CPUs."),
                Key(
                    "overload.loopLag", \.overload.loopLag, .live, in: .milliseconds(5) ... .seconds(5),
                    "Lateness of event loops."),
                Key(
                    "overload.descriptors", \.overload.descriptors, .live, in: 10...100, unit: "percent",
                    "File descriptors in use, of the limit."),
                Key(
                    "overload.memory", \.overload.memory, .live, in: ByteSize(bytes: 0) ... .mebibytes(1 << 20),
                    "Resident memory; 0: nine tenths of what the control group may have, for all that is in it."),
            ]),
        Section(
            "logging", "The log, on standard error.",
            [
                Key("logging.level", \.logging.level, .live, "The lowest level that is written."),
                Key("logging.format", \.logging.format, .restart, "auto: text on a terminal, else json."),
            ]),
        Section(
            "metrics", "Who may read /metrics where the admin listener is not on loopback.",
            [
                Key("metrics.token", \.metrics.token, .restart, "Bearer token."),
                Key("metrics.networks", \.metrics.networks, .restart, "Networks that need none."),
            ]),
        Section(
            "drain", "How the node goes away without hurting anybody.",
            [
                Key(
                    "drain.grace", \.drain.grace, .live, in: .seconds(0) ... .seconds(300),
                    "How long the node still takes publishes while it says that it is not ready."),
                Key(
                    "drain.timeout", \.drain.timeout, .live, in: .seconds(0) ... .seconds(7 * 86_400),
                    "How long live streams may go on, from the drain's beginning."),
                Key(
                    "drain.closesPerSecond", \.drain.closesPerSecond, .live, in: 1...10_000, unit: "a second",
                    "Streams that are ended after that."),
                Key(
                    "drain.takeOverTimeout", \.drain.takeOverTimeout, .live, in: .seconds(0) ... .seconds(7 * 86_400),
                    "How long streams of the old process may go on after a take-over."),
            ]),
        Section(
            "workers", "Threads.",
            [
                Key(
                    "workers.count", \.workers.count, .restart, in: 0...256,
                    "Media threads; 0: the CPUs that the control group grants."),
                Key("workers.verifiers", \.workers.verifiers, .restart, in: 1...64, "Threads that verify tokens."),
                Key(
                    "workers.rest", \.workers.rest, .restart, in: .zero ... .milliseconds(4),
                    "How long a media thread with more than some 18 streams may let packets gather; 0s: each is served at once."),
            ]),
    ]
}

extension ConfigurationTable {
    static let cluster = Section(
        "cluster", "This node among others that share a Redis or Valkey, and so are one platform.",
        [
            Key(
                "cluster.redis", \.cluster.redis, .restart, "The servers; empty: this node is a platform by itself, on SQLite."),
            Key(
                "cluster.topology", \.cluster.topology, .restart,
                "What they are: one primary, sentinels that know it, or nodes of a Redis Cluster."),
            Key("cluster.primary", \.cluster.primary, .restart, "The name by which sentinels know the primary."),
            Key("cluster.user", \.cluster.user, .restart, "ACL user; empty: the default one."),
            Key("cluster.password", \.cluster.password, .restart, "Its password; empty: the servers ask for none."),
            Key(
                "cluster.redisTLS", \.cluster.redisTLS, .restart,
                "Speak TLS with the servers and sentinels; their certificates must show the names in cluster.redis."),
            Key(
                "cluster.redisCertificateAuthority", \.cluster.redisCertificateAuthority, .restart,
                "PEM file that the servers' certificates must descend from; empty: the system's."),
            Key(
                "cluster.redisCertificate", \.cluster.redisCertificate, .restart,
                "PEM file of the certificate that we show the servers (tls-auth-clients); empty: none."),
            Key("cluster.redisPrivateKey", \.cluster.redisPrivateKey, .restart, "PEM file of its key."),
            Key(
                "cluster.keyPrefix", \.cluster.keyPrefix, .restart,
                "Prefix of every key; platforms that share servers need different ones."),
            Key(
                "cluster.platformKeyFile", \.cluster.platformKeyFile, .restart,
                "File of 32 bytes, the same on every node, that encrypts stream keys in the shared store."),
            Key(
                "cluster.node", \.cluster.node, .restart,
                "Name of this node, letters and digits, unlike any other node's; empty: made at the first start."),
            Key(
                "cluster.url", \.cluster.url, .restart,
                "URL under which the other nodes reach our public HTTP: they pass WHIP's PATCH and DELETE on; empty: by http.listen."
            ),
            Key(
                "cluster.certificateAuthority", \.cluster.certificateAuthority, .restart,
                "PEM file that the other nodes' certificates must descend from, where their URLs are https; empty: the system's."),
            Key(
                "cluster.publicURL", \.cluster.publicURL, .restart,
                "WHIP endpoint of this node alone, to which draining or full nodes send encoders (307); empty: none are sent."),
            Key(
                "cluster.degraded", \.cluster.degraded, .restart,
                "New publishes while the servers are away: refuse them, or admit tokens whose key we know."),
        ])
}
