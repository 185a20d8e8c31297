import Testing

@testable import Node

@Suite
struct RouterServiceTests {
    /// A container that is started again has its host's name, and its process the same number.
    @Test
    func `no two processes are the same gateway to a router`() {
        #expect(RouterService.makeGatewayID() != RouterService.makeGatewayID())
    }
}
