import OpenSSL
import Redis
import Settings
import Wire

extension RedisSettings {
    /// - Parameter node: what `CLIENT LIST` shows.
    /// - Throws: when a file of certificates or keys cannot be used.
    init(_ settings: ClusterSettings, node: String) throws {
        let endpoints = settings.redis.map { RedisEndpoint(host: $0.host, port: $0.port) }
        let user = settings.user.isEmpty ? nil : settings.user
        let credential = settings.password.isEmpty ? nil : RedisCredential(user: user, password: settings.password)
        switch settings.topology {
        case .standalone: self.init(.standalone(endpoints))
        case .sentinel: self.init(.sentinel(primary: settings.primary, sentinels: endpoints))
        case .cluster: self.init(.cluster(seeds: endpoints))
        }
        (self.credential, clientName) = (credential, "stagedoor-\(node)")
        if settings.redisTLS { tls = try RedisCertificates(settings).makeContext() }
    }
}

/// Whom this node trusts among the servers of its cluster, and what it shows them.
private struct RedisCertificates {
    private let authorities: [Certificate]?
    private let identity: Identity?

    /// - Throws: `StartupError.cluster`, which names the key whose file cannot be used.
    init(_ settings: ClusterSettings) throws {
        let authority = settings.redisCertificateAuthority
        authorities =
            authority.isEmpty
            ? nil : try Self.named("cluster.redisCertificateAuthority") { try Certificate.chain(pem: NamedFile.read(authority)) }
        identity =
            settings.redisCertificate.isEmpty
            ? nil
            : try Self.named("cluster.redisCertificate") {
                try Identity(
                    chainPEM: NamedFile.read(settings.redisCertificate), keyPEM: Secret(NamedFile.read(settings.redisPrivateKey)))
            }
    }

    /// What new connections get.
    /// - Throws: also when the key does not belong to the certificate.
    func makeContext() throws -> TLSContext {
        try Self.named("cluster.redisCertificate") { try TLSContext(clientTrusting: authorities, showing: identity) }
    }

    private static func named<Value>(_ key: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw StartupError.cluster("\(key): \(error)") }
    }
}
