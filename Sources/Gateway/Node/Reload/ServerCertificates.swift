import DataDirectory
import EventLoop
import Foundation
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
    private let authority: Identity?
    /// The PEM file that clients of the own authority trust; nil without it.
    let authorityPath: String?

    init(_ configuration: StagedoorConfiguration, directory: borrowing DataDirectory) throws {
        named = try Self.named(configuration)
        guard configuration.tls.certificate.isEmpty else {
            identity = try Self.pair(configuration.tls.certificate, configuration.tls.privateKey, key: "tls")
            (isOwn, self.authority, authorityPath) = (false, nil, nil)
            return
        }
        try directory.makeFolder("tls")
        let authority = try Self.authority(in: directory)
        identity = try Self.leaf(of: authority, host: configuration.advertise.publicName, now: EventLoop.wallNow())
        (isOwn, self.authority) = (true, authority)
        authorityPath = Self.absolute(directory.path + "/tls/ca.pem")
    }

    private init(
        _ identity: Identity, isOwn: Bool, named: [(name: String, identity: Identity)], like former: ServerCertificates
    ) {
        (self.identity, self.isOwn, self.named) = (identity, isOwn, named)
        (authority, authorityPath) = (former.authority, former.authorityPath)
    }

    /// Reads the operator's files anew and checks what is new in them; a certificate of our own stays, unless it ends soon. One in
    /// use that has expired does not keep others from being renewed.
    /// - Throws: when a file cannot be read, a new certificate is not in date, its chain is out of order, or our own lacks its authority.
    func reloaded(_ configuration: StagedoorConfiguration) throws -> ServerCertificates {
        let (settings, now) = (configuration.tls, EventLoop.wallNow())
        let isOwn = settings.certificate.isEmpty
        let identity =
            try isOwn
            ? own(host: configuration.advertise.publicName, now: now)
            : Self.pair(settings.certificate, settings.privateKey, key: "tls")
        let fresh = ServerCertificates(identity, isOwn: isOwn, named: try Self.named(configuration), like: self)
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

    /// Whether the certificate in use is our own, and is to be made anew: it ends soon, or the clock was set back behind its
    /// beginning.
    func isDueForRenewal(at now: WallTime) -> Bool {
        let certificate = identity.certificate
        return isOwn && (certificate.notAfter - now < Self.renewalTime || certificate.notBefore > now)
    }

    /// With another certificate of our own; the operator's stay, whatever has become of their files.
    func renewed(host: String, now: WallTime) throws -> ServerCertificates {
        ServerCertificates(try own(host: host, now: now), isOwn: true, named: named, like: self)
    }

    private func own(host: String, now: WallTime) throws -> Identity {
        guard let authority else {
            throw StartupError.certificate("tls.certificate: without it the gateway makes one of its own, at its next start only")
        }
        return try isOwn && !isDueForRenewal(at: now) ? identity : Self.leaf(of: authority, host: host, now: now)
    }

    /// What new handshakes get.
    func makeContext(_ settings: TLSSettings) throws -> TLSContext {
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
    private static func pair(_ certificate: String, _ privateKey: String, key: String) throws -> Identity {
        do {
            let identity = try Identity(chainPEM: NamedFile.read(certificate), keyPEM: Secret(NamedFile.read(privateKey)))
            _ = try TLSContext(server: identity)
            return identity
        } catch let error as OpenSSLError {
            throw StartupError.certificate("\(key): \(certificate) with \(privateKey): \(error)")
        } catch {
            throw StartupError.certificate("\(key): \(error)")
        }
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// Kept over restarts: clients that were set up to trust it keep working.
    /// - Throws: where it is there and cannot be used: nobody would trust another one in its place.
    private static func authority(in directory: borrowing DataDirectory) throws -> Identity {
        if let chain = try directory.read("tls/ca.pem"), let key = try directory.read("tls/ca.key") {
            do { return try Identity(chainPEM: chain, keyPEM: Secret(key)) } catch {
                throw StartupError.certificate("\(directory.path)/tls/ca.pem with ca.key: \(error)")
            }
        }
        let made = try Identity.makeAuthority(
            commonName: "Stagedoor's own authority", now: EventLoop.wallNow(), validFor: .seconds(10 * 365 * 86_400))
        try directory.write(made.key.pem().reveal(), to: "tls/ca.key")
        try directory.write(made.certificate.pem(), to: "tls/ca.pem")
        return made
    }

    /// Made anew at every start, and before it ends: its names follow the configuration, and nobody pins it.
    private static func leaf(of authority: Identity, host: String, now: WallTime) throws -> Identity {
        var names = ["localhost"]
        var addresses = [IPAddress.loopback, IPAddress.v6(high: 0, low: 1, scope: 0)]
        if let address = IPAddress(host) {
            addresses.append(address)
        } else if !host.isEmpty {
            names.append(host)
        }
        return try authority.issue(
            commonName: names.last ?? "localhost", dnsNames: names, addresses: addresses, now: now,
            validFor: .seconds(90 * 86_400))
    }

    /// Of its 90 days: time to try again, and for clients whose clocks are wrong.
    private static let renewalTime = Duration.seconds(30 * 86_400)
}
