import EventLoop
import GatewayLogging
import OpenSSL
import Redis
import Settings
import Wire

extension RedisSettings {
    /// - Parameter node: what `CLIENT LIST` shows.
    /// - Throws: when a file of certificates or keys cannot be used.
    init(_ settings: ClusterSettings, node: String) throws(StartupError) {
        let endpoints = settings.redis.map { RedisEndpoint(host: $0.host, port: $0.port) }
        let user = settings.user.isEmpty ? nil : settings.user
        let credential = settings.password.isEmpty ? nil : RedisCredential(user: user, password: settings.password)
        switch settings.topology {
        case .standalone: self.init(.standalone(endpoints))
        case .sentinel: self.init(.sentinel(primary: settings.primary, sentinels: endpoints))
        case .cluster: self.init(.cluster(seeds: endpoints))
        }
        (self.credential, clientName) = (credential, "stagedoor-\(node)")
        guard settings.redisTLS else { return }
        let contexts = try RedisTLS(settings)
        tls = { contexts.current }
    }
}

/// What new connections to the servers get: made anew when one of its files has been replaced. Certificates of a cluster's own
/// may live for a day.
private final class RedisTLS: Sendable {
    private struct Made {
        var files: [[Int]]
        var context: TLSContext
        /// Files that could not be used, which is told once.
        var refused: [[Int]] = []
    }

    private let settings: ClusterSettings
    private let made: Lock<Made>

    init(_ settings: ClusterSettings) throws(StartupError) {
        self.settings = settings
        let files = Self.files(settings)
        made = Lock(Made(files: files, context: try RedisCertificates(settings).makeContext()))
    }

    /// Files that cannot be used change nothing, and are tried again for the next connection: a key may become ours to read
    /// without having changed.
    var current: TLSContext {
        let (files, known) = (Self.files(settings), made.withLock { $0 })
        guard files != known.files else { return known.context }
        do {
            let fresh = try RedisCertificates(settings).makeContext()
            made.withLock { $0 = Made(files: files, context: fresh) }
            return fresh
        } catch {
            if files != known.refused { Log.event(.error, "cluster_certificate_refused", ["because": .string("\(error)")]) }
            made.withLock { $0.refused = files }
            return known.context
        }
    }

    private static func files(_ settings: ClusterSettings) -> [[Int]] {
        FileChanges.signature(
            of: [settings.redisCertificateAuthority, settings.redisCertificate, settings.redisPrivateKey])
    }
}

/// Whom this node trusts among the servers of its cluster, and what it shows them.
private struct RedisCertificates {
    private let authorities: [Certificate]?
    private let identity: Identity?

    /// - Throws: `StartupError.cluster`, which names the key whose file cannot be used.
    init(_ settings: ClusterSettings) throws(StartupError) {
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
    func makeContext() throws(StartupError) -> TLSContext {
        try Self.named("cluster.redisCertificate") { try TLSContext(clientTrusting: authorities, showing: identity) }
    }

    private static func named<Value>(_ key: String, _ body: () throws -> Value) throws(StartupError) -> Value {
        do { return try body() } catch { throw .cluster("\(key): \(error)") }
    }
}
