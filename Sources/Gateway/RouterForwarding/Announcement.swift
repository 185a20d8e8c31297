public import Admission
public import StageHub
public import Wire

/// What a router is told of one participant. Made on the worker, sent by the control loop.
public struct Announcement: Sendable, Equatable {
    public var grant: PublishGrant
    /// The stage session.
    public var sessionID: String
    /// Rises with every announce of the participant; below 2^53.
    public var generation: UInt64
    public var ingestProtocol: IngestProtocol
    /// Whether the encoder can be asked for keyframes: false for RTMP and for deaf WHIP encoders.
    public var acceptsKeyframeRequests: Bool
    public var muted: Set<TrackID> = []
    public var formats: [TrackID: TrackFormat]
    /// Where our media comes from and feedback goes.
    public var source: SocketAddress

    public init(
        grant: PublishGrant, sessionID: String, generation: UInt64, ingestProtocol: IngestProtocol,
        acceptsKeyframeRequests: Bool, formats: [TrackID: TrackFormat], source: SocketAddress
    ) {
        (self.grant, self.sessionID, self.generation) = (grant, sessionID, generation)
        (self.ingestProtocol, self.acceptsKeyframeRequests) = (ingestProtocol, acceptsKeyframeRequests)
        (self.formats, self.source) = (formats, source)
    }

    public var participantID: String { grant.participantID }
    var participant: ParticipantKey { grant.participant }

    /// The tracks in the order of the description's m-lines.
    var tracks: [TrackID] { [.video, .audio].filter { formats[$0] != nil } }
}

/// Why an announce did not come to a plan.
public enum AnnounceFailure: Error, Equatable, Sendable {
    /// Nothing, or only a part of an answer, within 2 s.
    case noAnswer
    case refused(status: Int)
    /// 409: the router holds a higher generation.
    case staleGeneration
    /// The answer names what is not the router's (`RouterTrust`), or is no answer; the text says which, for the log.
    case unacceptable(String)
}

/// One router, whatever it speaks. Confined to the control loop.
public protocol RouterDriver: AnyObject {
    /// The name in the configuration.
    var name: String { get }
    /// False for receivers that cannot be asked: they never count as dead.
    var hasHealth: Bool { get }
    func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void)
    /// Tells what turned out different: formats, mute, keyframe requests.
    func update(_ announcement: Announcement)
    func withdraw(_ announcement: Announcement, reason: String)
    func checkHealth(reply: @escaping (Bool) -> Void)
    /// Renews the gateway's lease; answers the participants that the router has lost.
    func renewLease(_ participants: [Announcement], reply: @escaping (_ lost: [ParticipantKey]) -> Void)
}
