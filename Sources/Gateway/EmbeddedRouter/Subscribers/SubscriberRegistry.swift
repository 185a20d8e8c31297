import EventLoop

/// The live subscribers of all workers, as their statistics last said. Written once a second by each, never by media.
public final class SubscriberRegistry: Sendable {
    private let sessions = Lock<[String: SubscriberStatistics]>([:])

    public init() {}

    public var count: Int { sessions.withLock { $0.count } }

    /// Everybody who watches somebody of the stage, by session id.
    public func statistics(ofStage stageID: String) -> [SubscriberStatistics] {
        sessions.withLock { sessions in
            sessions.values.filter { $0.stageID == stageID }.sorted { $0.sessionID < $1.sessionID }
        }
    }

    func note(_ statistics: SubscriberStatistics) { sessions.withLock { $0[statistics.sessionID] = statistics } }
    func remove(_ sessionID: String) { sessions.withLock { _ = $0.removeValue(forKey: sessionID) } }
}
