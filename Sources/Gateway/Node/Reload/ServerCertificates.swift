import DataDirectory
import EventLoop
import OpenSSL
import Settings
import Wire

/// The certificates that HTTPS and RTMPS show: the operator's files, or one signed by an authority of our own in `DIR/tls`.
struct ServerCertificates {
    /// Shown to clients that ask for no name, or for none of `named`.
    let identity: Identity
    /// Whether `authority` signed that.
    private let isOwn: Bool
    /// `certificates` of the configuration, in the order of their names.
    private let named: [(name: String, identity: Identity)]
    /// Signs certificates of our own, again and again; nil where the gateway started with the operator's files.
    private let authority: OwnAuthority?
    /// The PEM file that clients of the own authority trust; nil without it.
    var authorityPath: String? { authority?.path }

    init(_ configuration: StagedoorConfiguration, directory: borrowing DataDirectory) throws {
        named = try Self.named(configuration)
        guard configuration.tls.certificate.isEmpty else {
            identity = try Self.pair(configuration.tls.certificate, configuration.tls.privateKey, key: "tls")
            (isOwn, self.authority) = (false, nil)
            return
        }
        let now = EventLoop.wallNow()
        let authority = try OwnAuthority(in: directory, now: now).renewed(at: now)
        identity = try authority.issue(host: configuration.advertise.publicName, now: now)
        (isOwn, self.authority) = (true, authority)
    }

    private init(
        _ identity: Identity, isOwn: Bool, named: [(name: String, identity: Identity)], authority: OwnAuthority?
    ) {
        (self.identity, self.isOwn, self.named, self.authority) = (identity, isOwn, named, authority)
    }

    /// Reads the operator's files anew and checks what is new in them; a certificate of our own stays, unless it ends soon. One
    /// in use that has expired does not keep others from being renewed.
    /// - Throws: when a file cannot be read, a new certificate is not in date, its chain is out of order,
    ///   or our own lacks its authority.
    func reloaded(_ configuration: StagedoorConfiguration) throws -> ServerCertificates {
        let (settings, now, named) = (configuration.tls, EventLoop.wallNow(), try Self.named(configuration))
        let fresh =
            try settings.certificate.isEmpty
            ? own(host: configuration.advertise.publicName, now: now, named: named)
            : ServerCertificates(
                Self.pair(settings.certificate, settings.privateKey, key: "tls"), isOwn: false, named: named,
                authority: authority)
        let (known, read) = (fingerprints, fresh.fingerprints)
        for (name, identity) in fresh.identities where read[name] != known[name] {
            guard identity.certificate.notAfter > now else {
                throw StartupError.certificate("\(name): the certificate has expired")
            }
            guard identity.certificate.notBefore <= now else {
                throw StartupError.certificate("\(name): the certificate is not valid yet")
            }
            guard identity.isChainInOrder else {
                throw StartupError.certificate(
                    "\(name): put each certificate's issuer behind it: one does not sign the one before")
            }
        }
        return fresh
    }

    /// Whether the certificate in use is our own, and is to be made anew: it ends soon, or a clock was set back behind its
    /// beginning, or its authority's dates are wrong.
    func isDueForRenewal(at now: WallTime) -> Bool {
        let certificate = identity.certificate
        let isSound = certificate.notAfter - now >= Self.renewalTime && certificate.notBefore <= now
        return isOwn && (!isSound || authority?.isDueForRenewal(at: now) == true)
    }

    /// With another certificate of our own; the operator's stay, whatever has become of their files.
    func renewed(host: String, now: WallTime) throws -> ServerCertificates { try own(host: host, now: now, named: named) }

    private func own(host: String, now: WallTime, named: [(name: String, identity: Identity)]) throws -> ServerCertificates {
        guard let authority else {
            throw StartupError.certificate("tls.certificate: without it the gateway makes one of its own, at its next start only")
        }
        guard !isOwn || isDueForRenewal(at: now) else {
            return ServerCertificates(identity, isOwn: true, named: named, authority: authority)
        }
        let fresh = try authority.renewed(at: now)
        return ServerCertificates(try fresh.issue(host: host, now: now), isOwn: true, named: named, authority: fresh)
    }

    /// What new handshakes get.
    func makeContext(_ settings: TLSSettings) throws(OpenSSLError) -> TLSContext {
        try TLSContext(
            server: identity, named: named.map(\.identity), minimumVersion: settings.minimumVersion == .tls13 ? .tls13 : .tls12)
    }

    /// All certificates by the key of the configuration they come from.
    var certificates: [(name: String, certificate: Certificate)] { identities.map { ($0.name, $0.identity.certificate) } }

    private var identities: [(name: String, identity: Identity)] {
        [("tls", identity)] + named.map { ("certificates.\($0.name)", $0.identity) }
    }

    /// Whether both show the same certificates with the same issuers, for the same keys of the configuration.
    func isSame(as other: ServerCertificates) -> Bool { fingerprints == other.fingerprints }

    private var fingerprints: [String: [[UInt8]]] {
        let chains = identities.map { ($0.name, [$0.identity.certificate] + $0.identity.chain) }
        return Dictionary(uniqueKeysWithValues: chains).mapValues { $0.map(\.sha256Fingerprint) }
    }

    /// The operator's files, for noticing that they have changed.
    static func paths(_ configuration: StagedoorConfiguration) -> [String] {
        ([configuration.tls.certificate, configuration.tls.privateKey]
            + configuration.certificates.sorted { $0.key < $1.key }.flatMap { [$0.value.certificate, $0.value.privateKey] })
            .filter { !$0.isEmpty }
    }

    private static func named(_ configuration: StagedoorConfiguration) throws -> [(name: String, identity: Identity)] {
        try configuration.certificates.sorted { $0.key < $1.key }.map { name, settings in
            (name, try pair(settings.certificate, settings.privateKey, key: "certificates.\(name)"))
        }
    }

    /// - Throws: also when the key does not belong to the certificate.
    private static func pair(_ certificate: String, _ privateKey: String, key: String) throws(StartupError) -> Identity {
        do {
            let identity = try Identity(chainPEM: NamedFile.read(certificate), keyPEM: Secret(NamedFile.read(privateKey)))
            _ = try TLSContext(server: identity)
            return identity
        } catch let error as OpenSSLError {
            throw .certificate("\(key): \(certificate) with \(privateKey): \(error)")
        } catch {
            throw .certificate("\(key): \(error)")
        }
    }

    /// Of its 90 days: time to try again, and for clients whose clocks are wrong.
    private static let renewalTime = Duration.seconds(30 * 86_400)
}
