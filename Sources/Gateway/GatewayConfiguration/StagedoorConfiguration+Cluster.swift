import Wire

/// The rules between the keys of a cluster and others.
extension StagedoorConfiguration {
    var clusterProblems: [Problem] {
        var problems = cluster.isConfigured ? neededByCluster : uselessAlone
        let isName = cluster.node.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if !isName || cluster.node.utf8.count > Self.maximumNodeNameLength {
            problems.append(
                Problem(
                    key: "cluster.node",
                    message: "is not taken: expected at most \(Self.maximumNodeNameLength) letters and digits"))
        }
        return problems
    }

    private var neededByCluster: [Problem] {
        var problems: [Problem] = []
        if cluster.platformKeyFile.isEmpty {
            problems.append(Problem(key: "cluster.platformKeyFile", message: "is needed: `openssl rand -out FILE 32` makes one"))
        }
        if cluster.url.isEmpty, advertise.host.isEmpty, http.listen.address?.ip.isUnspecified ?? true {
            problems.append(
                Problem(key: "cluster.url", message: "is needed: neither advertise.host nor http.listen names this node"))
        }
        if (cluster.topology == .sentinel) == cluster.primary.isEmpty {
            let message = cluster.primary.isEmpty ? "is needed by topology sentinel" : "is for topology sentinel only"
            problems.append(Problem(key: "cluster.primary", message: message))
        }
        if !cluster.user.isEmpty, cluster.password.isEmpty {
            problems.append(Problem(key: "cluster.user", message: "has no cluster.password"))
        }
        if cluster.keyPrefix.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") || $0 <= 0x20 }) {
            problems.append(
                Problem(key: "cluster.keyPrefix", message: "may hold no braces and no blanks: they choose Redis's slots"))
        }
        problems += redisTLSProblems
        // Each node hands out ports of its own: two of them would send to the same one.
        problems += routers.filter { $1.driver == .static && !Self.isLoopback($1.host) }.keys.sorted().map { name in
            Problem(
                key: "routers.\(name).driver", message: "static routers belong to one node: a cluster needs announce or janus")
        }
        return problems
    }

    /// Files of certificates that nobody would read, or a half of a pair.
    private var redisTLSProblems: [Problem] {
        if cluster.redisCertificate.isEmpty != cluster.redisPrivateKey.isEmpty {
            let key = cluster.redisCertificate.isEmpty ? "cluster.redisCertificate" : "cluster.redisPrivateKey"
            return [Problem(key: key, message: "is needed: certificate and key come together")]
        }
        let files = [
            ("cluster.redisCertificateAuthority", cluster.redisCertificateAuthority),
            ("cluster.redisCertificate", cluster.redisCertificate),
        ]
        return cluster.redisTLS
            ? [] : files.filter { !$1.isEmpty }.map { Problem(key: $0.0, message: "does nothing without cluster.redisTLS") }
    }

    /// Somebody who set these believes to have a cluster.
    private var uselessAlone: [Problem] {
        let settings: [(key: String, isSet: Bool)] = [
            ("primary", !cluster.primary.isEmpty), ("user", !cluster.user.isEmpty), ("password", !cluster.password.isEmpty),
            ("platformKeyFile", !cluster.platformKeyFile.isEmpty), ("url", !cluster.url.isEmpty),
            ("publicURL", !cluster.publicURL.isEmpty), ("redisTLS", cluster.redisTLS),
        ]
        return settings.filter(\.isSet).map { Problem(key: "cluster.\($0.key)", message: "does nothing without cluster.redis") }
    }

    private static func isLoopback(_ host: String) -> Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// It stands in the ids of sessions.
    static let maximumNodeNameLength = 32
}
