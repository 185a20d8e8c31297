import GatewayLogging
import GatewayMetrics
import Store

/// What operators see of this node's own files: one that takes nothing, as a full disk's.
enum LocalHistory {
    static func log(_ notice: StoreFilesNotice) {
        switch notice {
        case .away(let reason): Log.event(.error, "history_away", ["because": .string(reason)])
        case .back: Log.event(.info, "history_back")
        case .lost(let count, let reason):
            Log.event(.error, "history_lost", ["writes": .integer(count), "because": .string(reason)])
        case .notSwept(let reason): Log.event(.warning, "history_not_swept", ["because": .string(reason)])
        case .notChanged(let reason): Log.event(.error, "configuration_not_written", ["because": .string(reason)])
        }
    }

    static func register(_ store: EmbeddedStore, in metrics: MetricsRegistry) {
        metrics.reading("stagedoor_history_waiting", "Writes to the history that its file has not taken.") {
            Double(store.historyStanding.waiting)
        }
        metrics.reading("stagedoor_history_lost_total", "Writes that are in no history.") {
            Double(store.historyStanding.lost)
        }
    }
}
