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
    /// Tracks of which nothing comes for now.
    public var muted: Set<TrackID> = []
    /// What each m-line carries; of video's layers, the best that lives.
    public var formats: [MediaKind: TrackFormat]
    /// Best first; none where video is one encoding.
    public var layers: [AnnouncedLayer] = []
    /// Where our media comes from and feedback goes.
    public var source: SocketAddress

    public init(
        grant: PublishGrant, sessionID: String, generation: UInt64, ingestProtocol: IngestProtocol,
        acceptsKeyframeRequests: Bool, formats: [MediaKind: TrackFormat], source: SocketAddress
    ) {
        (self.grant, self.sessionID, self.generation) = (grant, sessionID, generation)
        (self.ingestProtocol, self.acceptsKeyframeRequests) = (ingestProtocol, acceptsKeyframeRequests)
        (self.formats, self.source) = (formats, source)
    }

    public var participantID: String { grant.participantID }
    var participant: ParticipantKey { grant.participant }

    /// In the order of the description's m-lines.
    var kinds: [MediaKind] { [.video, .audio].filter { formats[$0] != nil } }

    /// What has an SSRC of its own: the same as long as an announce stands.
    var sources: Set<TrackID> { Set(kinds.map { TrackID($0) } + layers.map(\.track)) }
}
