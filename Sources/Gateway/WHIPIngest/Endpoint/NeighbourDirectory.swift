/// The other nodes of the platform, as they said last. For any thread; never waits.
public protocol NeighbourDirectory: Sendable {
    /// Where a node answers other nodes: `http://10.0.0.2:8080`; nil when none of that name is alive.
    func address(ofNode node: String) -> String?
    /// The WHIP endpoint of a node that takes a publish which this one would refuse or cut short; nil: it is answered here.
    /// - Parameter isSecure: whether the token came over TLS, and may go over nothing less.
    func betterEndpoint(isSecure: Bool) -> String?
}
