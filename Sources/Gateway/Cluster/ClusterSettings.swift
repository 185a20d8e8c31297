/// One node's part in the platform, and the times of its leases (docs/design.md 7.4).
public struct ClusterSettings: Sendable {
    /// The name of this node; no other node of the platform has it.
    public var nodeID: String
    /// Before every key and channel.
    public var keyPrefix = "sd:"
    /// How long a lease holds that nobody renews, and how often it is renewed.
    public var leaseLifetime = Duration.seconds(10)
    public var renewalInterval = Duration.seconds(3)
    /// How long a node counts as alive that says nothing, and how often it says so.
    public var heartbeatLifetime = Duration.seconds(10)
    public var heartbeatInterval = Duration.seconds(1)
    /// How long the owner of a live participant may take to answer.
    public var ownerPatience = Duration.milliseconds(500)
    /// How long a claim waits for a lease to end before it is refused: longer than a lease holds.
    public var claimPatience = Duration.seconds(11)
    /// Silence of the server after which nothing is as we left it, until everybody has renewed.
    public var silence = Duration.seconds(3)
    /// After a silence, how long what others held is still theirs.
    public var grace = Duration.seconds(15)
    /// Participants that may publish to one stage at once; a redundant pair counts once.
    public var publishersPerStage = 12
    /// Participants that may publish on all nodes together, as far as heartbeats tell.
    public var maximumPublishers = Int.max
    /// A stage session ends this long after its last publisher.
    public var sessionLinger = Duration.seconds(180)
    /// Publishes while the server is away: refused, or admitted by token alone, whose proof needs nobody else.
    public var admitsTokensWhileAway = false

    public init(nodeID: String) { self.nodeID = nodeID }
}
