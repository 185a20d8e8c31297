import DataDirectory
import EventLoop
import Foundation
import OpenSSL
import Settings
import Sockets
import TestSupport
import Testing
import Wire

@testable import Node

@Suite
struct DoctorChecksTests {
    @Test
    func `the doctor finds a certificate that cannot be read, and a listener that is off`() {
        var configuration = StagedoorConfiguration()
        for listener in [\StagedoorConfiguration.http.listen, \.https.listen, \.rtmp.listen, \.media.listen, \.admin.listen] {
            configuration[keyPath: listener] = .off
        }
        (configuration.tls.certificate, configuration.tls.privateKey) = ("/nothing/a.pem", "/nothing/a.key")
        let findings = DoctorChecks.all.flatMap { $0(configuration) }
        #expect(
            findings.contains { $0.level == .failure && $0.text == "tls.certificate: /nothing/a.pem: No such file or directory" })
        #expect(findings.contains { $0.level == .fine && $0.text == "http.listen (tcp) is off" })
        #expect(findings.contains { $0.text == "media.listen (udp) is off" })
        #expect(findings.contains { $0.text == "media.listen (tcp) is off" })
        #expect(Finding.failure("x").mark == "FAIL")
    }

    @Test
    func `without a cluster there are no indexes to repair`() {
        let finding = DoctorChecks.repairIndexes(StagedoorConfiguration())
        #expect(finding.level == .failure && finding.text == "--repair-indexes: no cluster.redis is configured")
    }

    /// The gateway would not start.
    @Test
    func `a name that leads nowhere fails`() throws {
        var configuration = StagedoorConfiguration()
        configuration.advertise.addresses = [.name("nothing.invalid")]
        let findings = DoctorChecks.advertisedAddresses(configuration)
        #expect(findings.map(\.level) == [.failure] && findings[0].text.contains("nothing.invalid"))
    }

    @Test
    func `a router's name that leads nowhere is looked at, and no router that is not asked`() {
        var configuration = StagedoorConfiguration()
        #expect(DoctorChecks.routers(configuration).isEmpty)
        var router = RouterSettings()
        (router.driver, router.url) = (.janus, "http://nothing.invalid:8088/janus")
        configuration.routers["janus"] = router
        #expect(DoctorChecks.routers(configuration).map(\.level) == [.warning])
        configuration.routers["janus"]?.url = "http://127.0.0.1:8088/janus"
        #expect(DoctorChecks.routers(configuration).map(\.level) == [.fine])
    }

    /// The gateway would not start.
    @Test
    func `a router's client key that cannot be read fails`() {
        var configuration = StagedoorConfiguration()
        var router = RouterSettings()
        (router.driver, router.url) = (.announce, "https://127.0.0.1:8443")
        (router.certificate, router.privateKey) = ("/nothing/a.pem", "/nothing/a.key")
        configuration.routers = ["a": router]
        let findings = DoctorChecks.routers(configuration)
        #expect(findings.map(\.level) == [.failure] && findings[0].text.hasPrefix("routers.a.privateKey: "))
    }

    @Test
    func `the media port is looked at for TCP too`() {
        var configuration = StagedoorConfiguration()
        configuration.media.listen = ListenAddress(SocketAddress(.loopback, port: 0))
        let tcp = DoctorChecks.listeners(configuration).filter { $0.text.hasPrefix("media.listen") && $0.text.contains("tcp") }
        #expect(tcp.count == 1)
        configuration.media.tcp = false
        #expect(DoctorChecks.listeners(configuration).contains { $0.text == "media.listen (tcp) is off" })
    }

    @Test
    func `a key of another certificate is told with both files`() throws {
        let directory = try TemporaryDirectory()
        func identity() throws -> Identity {
            try Identity.makeAuthority(commonName: "doctor test", now: EventLoop.wallNow(), validFor: .seconds(3_600))
        }
        var configuration = StagedoorConfiguration()
        (configuration.tls.certificate, configuration.tls.privateKey) = (directory.path + "/a.pem", directory.path + "/b.key")
        try Data(identity().certificate.pem()).write(to: URL(fileURLWithPath: configuration.tls.certificate))
        try Data(identity().key.pem().reveal()).write(to: URL(fileURLWithPath: configuration.tls.privateKey))
        let data = try DataDirectory(at: directory.path + "/data")
        do {
            _ = try ServerCertificates(configuration, directory: data)
            Issue.record("a key of another certificate was taken")
        } catch { #expect("\(error)".contains("/a.pem with \(directory.path)/b.key: "), "\(error)") }
    }

    @Test
    func `a certificate of our own has the name that URLs are made of`() throws {
        let directory = try TemporaryDirectory()
        var configuration = StagedoorConfiguration()
        configuration.advertise.addresses = [.interfaces, .name("media.example")]
        let data = try DataDirectory(at: directory.path + "/data")
        let certificates = try ServerCertificates(configuration, directory: data)
        #expect(certificates.identity.certificate.subject == "/CN=media.example")
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [(-60, Finding.Level.failure), (3_600, .warning)])
    func `a certificate is no good from the moment at which it expires`(_ seconds: Int, _ level: Finding.Level) throws {
        let directory = try TemporaryDirectory()
        let identity = try Identity.makeAuthority(
            commonName: "doctor test", now: EventLoop.wallNow(), validFor: .seconds(seconds))
        let (certificate, key) = (directory.path + "/a.pem", directory.path + "/a.key")
        try Data(identity.certificate.pem()).write(to: URL(fileURLWithPath: certificate))
        try Data(identity.key.pem().reveal()).write(to: URL(fileURLWithPath: key))
        var configuration = StagedoorConfiguration()
        (configuration.tls.certificate, configuration.tls.privateKey) = (certificate, key)
        #expect(DoctorChecks.certificates(configuration).map(\.level) == [level])
        withExtendedLifetime(directory) {}
    }

    @Test
    func `a certificate is no good before the moment from which it is valid`() throws {
        let directory = try TemporaryDirectory()
        let identity = try Identity.makeAuthority(
            commonName: "doctor test", now: EventLoop.wallNow() + .seconds(86_400), validFor: .seconds(30 * 86_400))
        let (certificate, key) = (directory.path + "/a.pem", directory.path + "/a.key")
        try Data(identity.certificate.pem()).write(to: URL(fileURLWithPath: certificate))
        try Data(identity.key.pem().reveal()).write(to: URL(fileURLWithPath: key))
        var configuration = StagedoorConfiguration()
        (configuration.tls.certificate, configuration.tls.privateKey) = (certificate, key)
        let findings = DoctorChecks.certificates(configuration)
        #expect(findings.map(\.level) == [.failure] && findings[0].text.contains("is not valid before"))
        withExtendedLifetime(directory) {}
    }

    /// TEST-NET-1: an address of no machine.
    @Test
    func `an address that is not this machine's fails, and a port that somebody holds is looked at`() throws {
        var configuration = StagedoorConfiguration()
        configuration.http.listen = ListenAddress(SocketAddress("192.0.2.1:8080"))
        let holder = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        configuration.media.listen = ListenAddress(holder.localAddress)
        let findings = DoctorChecks.listeners(configuration)
        #expect(findings.first { $0.text.hasPrefix("http.listen") }?.level == .failure)
        #expect(findings.first { $0.text.contains("(udp)") }?.level == .warning)
        withExtendedLifetime(holder) {}
    }

    @Test
    func `without an access key there is nobody to set up anything`() {
        var configuration = StagedoorConfiguration()
        #expect(DoctorChecks.accessKeys(configuration).map(\.level) == [.warning])
        configuration.accessKeys = ["ops": AccessKeySettings(id: "AKIAEXAMPLE", secret: Secret("0123456789abcdef"))]
        #expect(DoctorChecks.accessKeys(configuration).isEmpty)
        (configuration.accessKeys, configuration.admin.auth) = ([:], .none)
        #expect(DoctorChecks.accessKeys(configuration).isEmpty)
    }

    @Test
    func `a secret that came with the end of its line is looked at`() {
        var configuration = StagedoorConfiguration()
        configuration.accessKeys = ["ops": AccessKeySettings(id: "AKIAEXAMPLE", secret: Secret("0123456789abcdef\n"))]
        let found = DoctorChecks.accessKeys(configuration)
        #expect(found.map(\.level) == [.warning] && found[0].text.contains("accessKeys.ops.secret has a line break"))
    }

    @Test
    func `the doctor names what an access key's lists misspell`() {
        var (configuration, key) = (StagedoorConfiguration(), AccessKeySettings())
        key.allow = ["ivs:Get*", "cloudwatch:*", "ivs:GetStag"].compactMap { ActionPattern($0) }
        key.deny = ["stagedoor:Drain"].compactMap { ActionPattern($0) }
        configuration.accessKeys = ["ops": key]
        let found = DoctorChecks.accessKeys(configuration).map(\.text)
        #expect(found.count == 2 && found[0].contains("accessKeys.ops.allow") && found[0].contains("ivs:GetStag "))
        #expect(found.last?.contains("accessKeys.ops.deny: there is no action stagedoor:Drain") == true)
    }
}
