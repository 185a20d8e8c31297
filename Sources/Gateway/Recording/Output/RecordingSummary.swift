public import Wire

/// A recording as others see it.
public struct RecordingSummary: Sendable, Equatable {
    /// How far it is.
    public enum State: Sendable, Equatable {
        /// The publish began; nothing is stored yet.
        case starting
        /// The first segment and the playlists are stored.
        case active
        /// The publish is over: the reconnect window runs, or files are on their way.
        case stopping
        /// Every file is stored.
        case stopped
        /// Nothing more is stored, for this reason. If `startedAt` is nil, nothing ever was.
        case failed(String)
        /// Another node of the cluster goes on with it, and says how it stands.
        case elsewhere
        /// It goes on as a recording of the next stage session.
        case inNextSession
    }

    public var participant: RecordedParticipant
    /// The bucket's name in the configuration.
    public var bucket: String
    /// `<stageId>/<stageSessionId>/<participantId>/<time>`, without a slash at the end.
    public var prefix: String
    public var state: State
    /// Whether it was ever told to be active, by this process or one before.
    public var hasStarted: Bool
    /// When its first frame was; nil before the first segment is stored.
    public var startedAt: WallTime?
    /// When it was last recorded, or its publish ended where it has no segments; nil while one goes on.
    public var endedAt: WallTime?
    /// Of all segments that are stored, as the bytes are.
    public var duration: Duration
    public var byteCount: Int
    public var media = RecordingPlan.Media.audioAndVideo
    public var thumbnails: RecordingPlan.Thumbnails?
}
