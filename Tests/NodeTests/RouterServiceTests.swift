import DataDirectory
import EventLoop
import Foundation
import Glibc
import OpenSSL
import RouterForwarding
import Settings
import TestSupport
import Testing
import Wire

@testable import Node

@Suite
struct RouterServiceTests {
    /// A container that is started again has its host's name, and its process the same number.
    @Test
    func `no two processes are the same gateway to a router`() {
        #expect(RouterService.makeGatewayID() != RouterService.makeGatewayID())
    }

    /// By whatever name servers call it: nobody asks them.
    @Test
    func `a gateway has the name that the kernel knows`() throws {
        let line = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
        let name = line.trimmingCharacters(in: .newlines)
        #expect(MachineName.current == name && RouterService.makeGatewayID().hasPrefix(name + "-"))
    }

    /// As in Docker, where a container that does not run has no name.
    @Test
    func `a router whose name leads nowhere keeps no gateway from starting`() throws {
        let routes = try RouterAddress.routes(to: [
            "away": "http://nothing.invalid:8088/janus", "there": "http://127.0.0.1:8088/janus",
        ])
        #expect(routes["away"]?.addresses == [] && routes["away"]?.source == nil)
        #expect(routes["there"]?.addresses == [.loopback] && routes["there"]?.source == .loopback)
        #expect(throws: StartupError.self) { try RouterAddress.routes(to: ["janus": "/janus"]) }
    }

    /// Of two of which each waits for the other.
    @Test(.timeLimit(.minutes(10)))
    func `names are looked up at once, not one after another`() throws {
        let begun = Lock(0)
        let found = try HostAddresses.resolveAll(["there", "away", "there"]) { host in
            begun.withLock { $0 += 1 }
            while begun.withLock({ $0 }) < 2 { sched_yield() }
            return host == "there" ? [.loopback] : []
        }
        #expect(found == ["there": [.loopback], "away": []])
    }

    /// libcurl would ask for its passphrase at the terminal, and the control loop wait.
    @Test
    func `a client's key that cannot be read, as one that is encrypted, keeps the gateway from starting`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/client.pem"
        let client = try Identity.makeAuthority(commonName: "A", now: EventLoop.wallNow(), validFor: .seconds(3_600))
        let good = try client.key.pem().reveal()
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIHsMFcGCSqGSIb3DQEFDTBK\n-----END ENCRYPTED PRIVATE KEY-----\n"
        let files: [WritableKeyPath<RouterSettings, String>] = [\.certificate, \.privateKey]
        for file in files {
            var settings = RouterSettings()
            settings.certificate = folder.path + "/other.pem"
            settings[keyPath: file] = path
            try Data(good).write(to: URL(fileURLWithPath: path))
            #expect(throws: Never.self) { try RouterService.checkKey(of: "a", settings) }
            try Data(encrypted.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: StartupError.self) { try RouterService.checkKey(of: "a", settings) }
        }
        #expect(throws: Never.self) { try RouterService.checkKey(of: "a", RouterSettings()) }
        withExtendedLifetime(folder) {}
    }

    /// Of two that share a Janus each would destroy the other's mountpoints every five seconds.
    @Test
    func `a node knows its own mountpoints again, and no other node's`() throws {
        let folders = [try TemporaryDirectory(), try TemporaryDirectory()]
        let one = try DataDirectory(at: folders[0].path + "/data")
        let other = try DataDirectory(at: folders[1].path + "/data")
        let key = try MountpointKey.load(from: one)
        let again = try MountpointKey.load(from: one)
        let others = try MountpointKey.load(from: other)
        #expect(key == again)
        #expect(key != others)
        withExtendedLifetime(folders) {}
    }
}
