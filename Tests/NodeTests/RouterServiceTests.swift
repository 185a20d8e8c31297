import DataDirectory
import TestSupport
import Testing

@testable import Node

@Suite
struct RouterServiceTests {
    /// A container that is started again has its host's name, and its process the same number.
    @Test
    func `no two processes are the same gateway to a router`() {
        #expect(RouterService.makeGatewayID() != RouterService.makeGatewayID())
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
