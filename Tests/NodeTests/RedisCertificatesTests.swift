import EventLoop
import Foundation
import OpenSSL
import Redis
import Settings
import TestSupport
import Testing
import Wire

@testable import Node

@Suite
struct RedisCertificatesTests {
    private let folder: TemporaryDirectory
    private let authority: Identity

    init() throws {
        folder = try TemporaryDirectory()
        authority = try Identity.makeAuthority(commonName: "A", now: EventLoop.wallNow(), validFor: .seconds(3_600))
        try write(authority.certificate.pem(), to: "ca.pem")
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)), options: .atomic)
    }

    private func issue() throws -> Identity {
        try authority.issue(
            commonName: "n", dnsNames: ["n"], addresses: [], now: EventLoop.wallNow(), validFor: .seconds(3_600))
    }

    /// The settings of a node that shows a certificate of its own.
    private func settings(showing identity: Identity) throws -> ClusterSettings {
        try write(identity.certificate.pem(), to: "n.pem")
        try write(identity.key.pem().reveal(), to: "n.key")
        var settings = ClusterSettings()
        (settings.redisTLS, settings.redisCertificateAuthority) = (true, path("ca.pem"))
        (settings.redisCertificate, settings.redisPrivateKey) = (path("n.pem"), path("n.key"))
        return settings
    }

    @Test
    func `new connections get what the files have become, once that fits together`() throws {
        let tls = try #require(try RedisSettings(try settings(showing: try issue()), node: "n").tls)
        let former = tls()
        #expect(tls() === former)
        let second = try issue()
        try write(second.certificate.pem(), to: "n.pem")
        #expect(tls() === former, "the key is of the other one still")
        try write(second.key.pem().reveal(), to: "n.key")
        let renewed = tls()
        #expect(renewed !== former)
        #expect(tls() === renewed)
    }

    /// As where a renewed key becomes ours only after it was written.
    @Test
    func `files that could not be used are tried again, whether or not they have changed`() throws {
        let tls = try #require(try RedisSettings(try settings(showing: try issue()), node: "n").tls)
        let (former, second) = (tls(), try issue())
        let key = try second.key.pem().reveal()
        try write(second.certificate.pem(), to: "n.pem")
        try writeInPlace([UInt8](repeating: 0x20, count: key.count), to: "n.key")
        #expect(tls() === former)
        try writeInPlace(key, to: "n.key")
        #expect(tls() !== former)
    }

    /// A file that looks as if nobody had touched it.
    private func writeInPlace(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: path(name))
    }
}
