public import ObjectStorage

/// What of a participant is recorded, and where to: decided when the publish begins.
public struct RecordingPlan: Sendable {
    /// What segments are made of.
    public enum Media: String, Codable, Sendable {
        case audioAndVideo, audioOnly
        /// No segments.
        case thumbnailsAlone
    }

    /// Pictures beside the media.
    public struct Thumbnails: Sendable, Equatable, Codable {
        /// Seconds from one to the next, 1 to 86,400: of keyframes, which come when they come.
        public var interval: Int
        /// Whether all are kept, numbered.
        public var keepsAll: Bool
        /// Whether the latest is kept under a name of its own.
        public var keepsLatest: Bool

        public init(interval: Int, keepsAll: Bool, keepsLatest: Bool) {
            (self.interval, self.keepsAll, self.keepsLatest) = (interval, keepsAll, keepsLatest)
        }
    }

    /// The bucket's name, by which a later start finds it again.
    public var bucket: String
    public var media = Media.audioAndVideo
    /// Nil: none are made.
    public var thumbnails: Thumbnails?
    /// Seconds of a segment that are aimed at, 2 to 10.
    public var segmentDuration = 6
    /// A participant who comes back within this time goes on in the same recording.
    public var reconnectWindow = Duration.zero

    public init(bucket: String) { self.bucket = bucket }
}

/// What recordings ask of the rest of the gateway, from any thread.
public protocol RecordingDirector: Sendable {
    /// What of this participant is recorded; nil for nothing. Asked when a publish begins, on its worker: answers at once.
    /// - Parameter isReplica: the participant publishes on another stage.
    func plan(for participant: RecordedParticipant, isReplica: Bool) -> RecordingPlan?
    /// Stores an object in place of the one of that key, if there is one; never waits. Called on the writer's thread.
    ///
    /// One object of a recording is under way at a time, and the next comes when it is stored: what a playlist names exists.
    func put(_ upload: Upload)
    /// What is stored before a recording is said to be in that state, such as `events/recording-started.json`. Asked on the
    /// writer's thread, of the states `active`, `stopped` and `failed`; not of one that stopped and never was active.
    func documents(of recording: RecordingSummary) -> [StoredObject]
    /// A recording is in another state. Called on the writer's thread, in order.
    func changed(_ recording: RecordingSummary)
    /// What the nodes of a cluster share; nil where the node is alone.
    var register: (any RecordingRegister)? { get }
}

extension RecordingDirector {
    public var register: (any RecordingRegister)? { nil }
}

/// Whose publish is recorded.
public struct RecordedParticipant: Sendable, Hashable, Codable {
    public var stageID: String
    public var stageSessionID: String
    public var participantID: String

    public init(stageID: String, stageSessionID: String, participantID: String) {
        (self.stageID, self.stageSessionID, self.participantID) = (stageID, stageSessionID, participantID)
    }
}
