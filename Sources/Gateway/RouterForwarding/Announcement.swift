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
