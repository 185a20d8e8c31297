public import Settings

/// One node of a platform: its name, its cluster, and what the platform may have.
public struct NodeSettings: Sendable {
    /// The name of this node; no other node of the cluster has it.
    public var nodeID: String
    public var cluster: ClusterSettings
    public var quotas: QuotaSettings

    public init(
        nodeID: String, cluster: ClusterSettings = ClusterSettings(), quotas: QuotaSettings = QuotaSettings()
    ) {
        (self.nodeID, self.cluster, self.quotas) = (nodeID, cluster, quotas)
    }
}
