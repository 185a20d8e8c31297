import Cluster
import ClusterStore
import EventLoop
import GatewayMetrics

/// `stagedoor_cluster_…` of the metrics.
enum ClusterMetrics {
    static func register(_ cluster: ClusterContext, in metrics: MetricsRegistry) {
        metrics.reading("stagedoor_cluster_connected", "1 while the cluster's servers answer this node and write.") {
            cluster.fault.withLock { $0.words == nil } ? 1 : 0
        }
        metrics.reading("stagedoor_cluster_nodes", "Nodes of the platform that live, this one among them.") {
            Double(cluster.leases.nodes.count)
        }
        metrics.reading("stagedoor_cluster_publishers", "Publishers on all nodes, as their heartbeats say.") {
            Double(cluster.leases.nodes.reduce(0) { $0 + $1.publishers })
        }
        metrics.reading("stagedoor_cluster_records", "Records of the shared configuration in memory.") {
            Double(cluster.store.statistics.records)
        }
        metrics.reading("stagedoor_cluster_conflicts_total", "Changes made again because another node was faster.") {
            Double(cluster.store.statistics.conflicts)
        }
        metrics.reading("stagedoor_cluster_reloads_total", "Times that the whole configuration was read.") {
            Double(cluster.store.statistics.reloads)
        }
        metrics.reading("stagedoor_cluster_history_forwarded_total", "Writes to the history that the servers have taken.") {
            Double(cluster.store.statistics.forwarded)
        }
    }
}
