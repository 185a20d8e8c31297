import Store
import Wire

/// Which replications have lost their source for longer than their windows. Pure: records, who is live, and the time go in.
///
/// Every node of a cluster has one, so that no window depends on a node that has died; ending one twice changes nothing.
struct WindowMachine: Sendable {
    enum Action: Equatable, Sendable {
        case stop(Replication)
        case forget(Replication)
    }

    /// One publish of a source that was lost: whoever comes back and is lost again, maybe between two
    /// looks, has a window of its own.
    private struct Loss: Hashable {
        var key: Replication.Key
        var generation: UInt64

        init(_ replication: Replication) { (key, generation) = (replication.key, replication.sourceGeneration) }
    }

    /// Since when sources are missed.
    private var absent: [Loss: MonotonicTime] = [:]
    /// Since when starts, and refusals nobody took away, are known, by their numbers.
    private var unanswered: [String: MonotonicTime] = [:]

    /// - Parameters:
    ///   - live: of the sources, those that publish now.
    ///   - sessions: the running stage session of each source's stage.
    mutating func look(
        at replications: [Replication], live: Set<StageParticipant>, sessions: [String: String], _ now: MonotonicTime
    ) -> [Action] {
        let losses = Set(replications.map { Loss($0) })
        absent = absent.filter { losses.contains($0.key) }
        let numbers = Set(replications.filter { $0.state == .starting || $0.state == .refused }.map(\.number))
        unanswered = unanswered.filter { numbers.contains($0.key) }
        return replications.compactMap { replication in
            switch replication.state {
            case .starting, .refused:
                let since = unanswered[replication.number] ?? now
                unanswered[replication.number] = since
                return now - since >= Self.startPatience ? .forget(replication) : nil
            case .active: return look(at: replication, isLive: live.contains(replication.key.source), now)
            case .stopped:
                let isRunning = sessions[replication.key.sourceStageARN] == replication.sourceSessionID
                return isRunning ? nil : .forget(replication)
            }
        }
    }

    private mutating func look(at replication: Replication, isLive: Bool, _ now: MonotonicTime) -> Action? {
        let loss = Loss(replication)
        if isLive {
            absent[loss] = nil
            return nil
        }
        let since = absent[loss] ?? now
        absent[loss] = since
        return now - since >= .seconds(Int64(replication.reconnectWindow)) ? .stop(replication) : nil
    }

    /// One that nobody acts on by then has no publisher that could; longer than whoever asked for it waits.
    static let startPatience = Duration.seconds(30)
}
