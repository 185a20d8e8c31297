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
            Key("cluster.password", \.cluster.password, .restart, "Its password; empty: none is asked for."),
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
                "cluster.keyPrefix", \.cluster.keyPrefix, .restart, "Begins every key; platforms that share servers differ in it."
            ),
            Key(
                "cluster.platformKeyFile", \.cluster.platformKeyFile, .restart,
                "File of 32 bytes, the same on every node, that encrypts stream keys in the shared store."),
            Key(
                "cluster.node", \.cluster.node, .restart,
                "Name of this node, letters and digits, like that of no other; empty: made at the first start."),
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
