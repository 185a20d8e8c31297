import DataDirectory
import RouterForwarding
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

    /// As in Docker, where a container that does not run has no name.
    @Test
    func `a router whose name leads nowhere keeps no gateway from starting`() throws {
        let route = try RouterAddress.route(to: "http://nothing.invalid:8088/janus", router: "janus")
        #expect(route.addresses.isEmpty && !route.source.isUnspecified)
        #expect(try RouterAddress.route(to: "http://[::1]:8088/janus", router: "janus").addresses.count == 1)
        #expect(throws: StartupError.self) { try RouterAddress.route(to: "/janus", router: "janus") }
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
