import Cluster
import Testing

@testable import Node

@Suite
struct NeighboursTests {
    private static func node(
        _ id: String, load: Double = 0, isDraining: Bool = false, url: String? = nil, routers: Set<String> = []
    ) -> NodeRecord {
        var record = NodeRecord(id: id)
        (record.load, record.isDraining, record.routers) = (load, isDraining, routers)
        (record.nodeURL, record.publicURL) = ("http://\(id)", url ?? "https://\(id).example")
        return record
    }

    @Test
    func `encoders are sent to the node with least to do, never to ourselves`() {
        let nodes = [Self.node("own"), Self.node("busy", load: 0.7), Self.node("idle", load: 0.1)]
        #expect(Neighbours(nodes, of: "own").roomiest(isSecure: true) == "https://idle.example")
        #expect(Neighbours(nodes, of: "idle").roomiest(isSecure: true) == "https://own.example")
    }

    @Test(arguments: [
        node("a", isDraining: true), node("a", load: 1), node("a", url: ""), node("own"),
    ])
    func `no encoder is sent to one that goes away, is full, or tells no address`(node: NodeRecord) {
        #expect(Neighbours([node], of: "own").roomiest(isSecure: false) == nil)
    }

    @Test
    func `an encoder that came by TLS is not sent on without`() {
        let nodes = Neighbours([Self.node("a", url: "http://a.example"), Self.node("b", load: 0.5)], of: "own")
        #expect(nodes.roomiest(isSecure: true) == "https://b.example")
        #expect(nodes.roomiest(isSecure: false) == "http://a.example")
    }

    @Test
    func `another node's address is known while it lives, and which routers others see`() {
        let nodes = Neighbours(
            [Self.node("own", routers: ["mine"]), Self.node("a", routers: ["r1"]), Self.node("b", routers: ["r1", "r2"])],
            of: "own")
        #expect(nodes.address(ofNode: "a") == "http://a")
        #expect(nodes.address(ofNode: "own") == nil)
        #expect(nodes.address(ofNode: "gone") == nil)
        #expect(nodes.routers == ["r1", "r2"])
    }
}
