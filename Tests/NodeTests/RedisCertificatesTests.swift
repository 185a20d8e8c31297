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

    @Test
    func `new connections get what the files have become, once that fits together`() throws {
        let first = try issue()
        try write(first.certificate.pem(), to: "n.pem")
        try write(first.key.pem().reveal(), to: "n.key")
        var settings = ClusterSettings()
        (settings.redisTLS, settings.redisCertificateAuthority) = (true, path("ca.pem"))
        (settings.redisCertificate, settings.redisPrivateKey) = (path("n.pem"), path("n.key"))
        let tls = try #require(try RedisSettings(settings, node: "n").tls)
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
}
