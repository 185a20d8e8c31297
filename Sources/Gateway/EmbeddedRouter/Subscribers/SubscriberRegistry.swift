import EventLoop

/// The live subscribers of all workers, as their statistics last said. Written once a second by each, never by media.
public final class SubscriberRegistry: Sendable {
    private let sessions = Lock<[String: SubscriberStatistics]>([:])

    /// Everybody who watches, in no order.
    public var all: [SubscriberStatistics] { sessions.withLock { Array($0.values) } }

    func note(_ statistics: SubscriberStatistics) { sessions.withLock { $0[statistics.sessionID] = statistics } }
    func remove(_ sessionID: String) { sessions.withLock { _ = $0.removeValue(forKey: sessionID) } }
}

/// What one subscriber was sent and how it fared, over the last second.
public struct SubscriberStatistics: Sendable {
    /// The WHEP session's id.
    let sessionID: String
    public let stageID: String
    /// The participant of the subscriber's token.
    public let subscriberID: String
    /// All that was sent, bits a second: with headers, SRTP, what was sent again, and what only tries the way.
    var bitsPerSecond = 0
    /// The media of each track, once: payloads, bits a second.
    public internal(set) var videoBitsPerSecond = 0
    public internal(set) var soundBitsPerSecond = 0
    /// Of the packets of the last second those that are missing for good; nil where none was sent.
    public internal(set) var lossRatio: Double?
}
