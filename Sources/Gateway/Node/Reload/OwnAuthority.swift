import DataDirectory
import Foundation
import GatewayLogging
import OpenSSL
import Wire

/// Signs certificates of our own, for trying things. Its key is kept in `DIR/tls` over restarts: clients that were set up to
/// trust it keep working.
struct OwnAuthority {
    /// Of every such authority; one with another name is somebody else's.
    static let name = "Stagedoor's own authority"

    /// The PEM file that clients trust.
    let path: String
    private let identity: Identity

    /// Reads it, or makes one.
    /// - Throws: where it is there and cannot be used: nobody would trust another one in its place.
    init(in directory: borrowing DataDirectory, now: WallTime) throws {
        try directory.makeFolder("tls")
        path = URL(fileURLWithPath: directory.path + "/tls/ca.pem").standardizedFileURL.path
        if let chain = try directory.read("tls/ca.pem"), let key = try directory.read("tls/ca.key") {
            do { identity = try Identity(chainPEM: chain, keyPEM: Secret(key)) } catch {
                throw StartupError.certificate("\(directory.path)/tls/ca.pem with ca.key: \(error)")
            }
            return
        }
        identity = try Identity.makeAuthority(commonName: Self.name, now: now, validFor: Self.validity)
        try directory.write(identity.key.pem().reveal(), to: "tls/ca.key")
        try directory.write(identity.certificate.pem(), to: "tls/ca.pem")
    }

    private init(_ identity: Identity, at path: String) { (self.identity, self.path) = (identity, path) }

    /// Whether nobody whose clock is ours takes what it signs: it was made by a clock that was wrong, or ten years ago.
    func isDueForRenewal(at now: WallTime) -> Bool {
        let certificate = identity.certificate
        return Self.isOfOurName(certificate) && (certificate.notBefore > now || certificate.notAfter <= now)
    }

    static func isOfOurName(_ certificate: Certificate) -> Bool { certificate.subject == "/CN=\(name)" }

    /// With other dates, where those are wrong. The key stays: if it is our clock that is wrong now, who trusts the former file
    /// goes on trusting what this one signs once the clock is right again.
    func renewed(at now: WallTime) throws -> OwnAuthority {
        guard isDueForRenewal(at: now) else { return self }
        let fresh = try Identity.makeAuthority(commonName: Self.name, key: identity.key, now: now, validFor: Self.validity)
        try AtomicFile.write(fresh.certificate.pem(), to: path)
        Log.event(
            .warning, "authority_renewed",
            [
                "path": .string(path), "was_valid_from": .string(CivilTime(identity.certificate.notBefore).rfc3339),
                "was_valid_until": .string(CivilTime(identity.certificate.notAfter).rfc3339),
                "hint": "check this machine's clock, and give clients that trust the gateway's own authority the new file",
            ])
        return OwnAuthority(fresh, at: path)
    }

    /// Names follow the configuration, and nobody pins it.
    func issue(host: String, now: WallTime) throws(OpenSSLError) -> Identity {
        var names = ["localhost"]
        var addresses = [IPAddress.loopback, IPAddress.v6(high: 0, low: 1, scope: 0)]
        if let address = IPAddress(host) {
            addresses.append(address)
        } else if !host.isEmpty {
            names.append(host)
        }
        return try identity.issue(
            commonName: names.last ?? "localhost", dnsNames: names, addresses: addresses, now: now,
            validFor: .seconds(90 * 86_400))
    }

    private static let validity = Duration.seconds(10 * 365 * 86_400)
}
