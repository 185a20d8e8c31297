import DataDirectory
import EventLoop
import Foundation
import GatewayConfiguration
import OpenSSL
import Wire

/// The certificate that HTTPS and RTMPS show: the operator's files, or one signed by an authority of our own in `DIR/tls`.
struct ServerCertificates {
    let identity: Identity
    /// The PEM file that clients of the own authority trust; nil with the operator's files.
    let authorityPath: String?

    init(_ settings: TLSSettings, directory: borrowing DataDirectory, host: String) throws {
        guard settings.certificate.isEmpty else {
            identity = try Identity(
                chainPEM: Self.read(settings.certificate), keyPEM: Secret(Self.read(settings.privateKey)))
            authorityPath = nil
            return
        }
        try directory.makeFolder("tls")
        let authority = try Self.authority(in: directory)
        identity = try Self.leaf(of: authority, host: host)
        authorityPath = Self.absolute(directory.path + "/tls/ca.pem")
    }

    private static func read(_ path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// Kept over restarts, so that what was told to trust it once goes on.
    private static func authority(in directory: borrowing DataDirectory) throws -> Identity {
        let path = directory.path + "/tls/"
        if let chain = try? read(path + "ca.pem"), let key = try? read(path + "ca.key") {
            return try Identity(chainPEM: chain, keyPEM: Secret(key))
        }
        let made = try Identity.makeAuthority(
            commonName: "Stagedoor's own authority", now: EventLoop.wallNow(), validFor: .seconds(10 * 365 * 86_400))
        try directory.write(made.key.pem().reveal(), to: "tls/ca.key")
        try directory.write(made.certificate.pem(), to: "tls/ca.pem")
        return made
    }

    /// Made anew at every start: its names follow the configuration, and nobody pins it.
    private static func leaf(of authority: Identity, host: String) throws -> Identity {
        var names = ["localhost"]
        var addresses = [IPAddress.loopback, IPAddress.v6(high: 0, low: 1, scope: 0)]
        if let address = IPAddress(host) {
            addresses.append(address)
        } else if !host.isEmpty {
            names.append(host)
        }
        return try authority.issue(
            commonName: names.last ?? "localhost", dnsNames: names, addresses: addresses, now: EventLoop.wallNow(),
            validFor: .seconds(90 * 86_400))
    }
}
