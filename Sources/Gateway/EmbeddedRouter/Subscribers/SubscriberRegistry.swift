import EventLoop
public import StageHub

/// The live subscribers of all workers, as their statistics last said. Written once a second by each, never by media.
public final class SubscriberRegistry: Sendable {
    private let sessions = Lock<[String: SubscriberStatistics]>([:])

    public init() {}

    public var count: Int { sessions.withLock { $0.count } }

    /// Everybody who watches, in no order.
    public var all: [SubscriberStatistics] { sessions.withLock { Array($0.values) } }

    /// Everybody who watches somebody of the stage, by session id.
    public func statistics(ofStage stageID: String) -> [SubscriberStatistics] {
        sessions.withLock { sessions in
            sessions.values.filter { $0.stageID == stageID }.sorted { $0.sessionID < $1.sessionID }
        }
    }

    func note(_ statistics: SubscriberStatistics) { sessions.withLock { $0[statistics.sessionID] = statistics } }
    func remove(_ sessionID: String) { sessions.withLock { _ = $0.removeValue(forKey: sessionID) } }
}

/// What one subscriber was sent and how it fared, over the last second.
public struct SubscriberStatistics: Sendable, Equatable {
    /// The WHEP session's id.
    public var sessionID: String
    public var stageID: String
    /// The participant that is watched.
    public var participantID: String
    /// The participant of the subscriber's token.
    public var subscriberID: String
    /// All that was sent, bits a second: with headers, SRTP, what was sent again, and what only tries the way.
    public var bitsPerSecond = 0
    /// The media of each track, once: payloads, bits a second.
    public var videoBitsPerSecond = 0
    public var soundBitsPerSecond = 0
    /// RTP packets sent since the session began, retransmissions not counted.
    public var packets: UInt64 = 0
    /// RTP packets sent again because a NACK asked for them.
    public var retransmissions: UInt64 = 0
    /// What the subscriber's receiver reports say is missing for good.
    public var lost: Int64 = 0
    /// Of the packets of the last second those that are missing for good; nil where none was sent.
    public var lossRatio: Double?
    public var framesPerSecond = 0
    /// The layer whose pictures are sent; nil without video.
    public var layer: LayerName?
    /// Changes from one layer to another since the session began.
    public var layerSwitches = 0
    /// What the way to the subscriber carries; nil while it has told nothing.
    public var estimatedBitsPerSecond: Int?
    /// From the subscriber's receiver reports (RFC 3550 §6.4.1); nil before the first.
    public var roundTripTime: Duration?

    public init(sessionID: String, stageID: String, participantID: String, subscriberID: String) {
        (self.sessionID, self.stageID) = (sessionID, stageID)
        (self.participantID, self.subscriberID) = (participantID, subscriberID)
    }
}
