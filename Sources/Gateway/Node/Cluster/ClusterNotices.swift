import ClusterStore
import GatewayLogging

/// Notices of the shared store, for the log.
enum ClusterNotices {
    static func log(_ notice: ClusterStoreNotice) {
        switch notice {
        case .away(let reason): Log.event(.error, "cluster_store_away", ["because": .string(reason)])
        case .back: Log.event(.info, "cluster_store_back")
        case .reloaded(let records): Log.event(.info, "cluster_store_reloaded", ["records": .integer(records)])
        case .unreadable(let key): Log.event(.error, "cluster_record_unreadable", ["key": .string(key)])
        case .notReplicated(let total): Log.event(.warning, "cluster_write_not_replicated", ["total": .integer(total)])
        case .historyRefused(let reason): Log.event(.error, "cluster_history_refused", ["because": .string(reason)])
        }
    }
}
