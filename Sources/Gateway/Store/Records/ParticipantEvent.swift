public import Wire

/// One thing that happened to a participant; ListParticipantEvents and the EventBridge form are two encodings of it.
public struct ParticipantEvent: Codable, Equatable, Sendable {
    /// `EventName` of the API model, as far as a gateway produces them, and some of our own.
    public enum Name: String, Codable, Sendable {
        case joined = "JOINED"
        case left = "LEFT"
        case publishStarted = "PUBLISH_STARTED"
        case publishStopped = "PUBLISH_STOPPED"
        case publishError = "PUBLISH_ERROR"
        case subscribeStarted = "SUBSCRIBE_STARTED"
        case subscribeStopped = "SUBSCRIBE_STOPPED"
        case subscribeError = "SUBSCRIBE_ERROR"
        /// It never was in the session: what keeps it out has nothing to do with what it would publish.
        case joinError = "JOIN_ERROR"
        case replicationStarted = "REPLICATION_STARTED"
        case replicationStopped = "REPLICATION_STOPPED"
        case publishWarning = "PUBLISH_WARNING"
        case recordingStarted = "RECORDING_STARTED"
        case recordingEnded = "RECORDING_ENDED"
        case recordingStartFailed = "RECORDING_START_FAILED"
        case recordingEndFailed = "RECORDING_END_FAILED"

        /// Whether events of this name have a `recording`, which one that failed to start may have without a bucket.
        var isAboutRecording: Bool {
            switch self {
            case .recordingStarted, .recordingEnded, .recordingStartFailed, .recordingEndFailed: true
            case .joined, .left, .publishStarted, .publishStopped, .publishError, .subscribeStarted, .subscribeStopped,
                .subscribeError, .joinError, .replicationStarted, .replicationStopped, .publishWarning:
                false
            }
        }

        /// What is not in the API model, ListParticipantEvents leaves out.
        package static let unmodelled: [Name] = [
            .publishWarning, .recordingStarted, .recordingEnded, .recordingStartFailed, .recordingEndFailed,
        ]
    }

    /// Which recording an event is about.
    public struct Recording: Codable, Equatable, Sendable {
        public var bucketName: String
        public var prefix: String
        /// Of what was recorded, in milliseconds; nil where it has not ended.
        public var duration: Int?

        public init(bucketName: String, prefix: String, duration: Int? = nil) {
            (self.bucketName, self.prefix, self.duration) = (bucketName, prefix, duration)
        }
    }

    /// The other side of a replication.
    public struct Destination: Codable, Equatable, Sendable {
        public var stageARN: String
        public var sessionID: String

        public init(stageARN: String, sessionID: String) { (self.stageARN, self.sessionID) = (stageARN, sessionID) }
    }

    /// Rises with every event of this gateway; 0 until the store has written it.
    public var sequence: Int64
    public var name: Name
    public var time: WallTime
    public var stageARN: String
    public var sessionID: String
    public var participantID: String
    public var userID: String
    /// `EventErrorCode` of the API model; empty unless this is an error.
    public var errorCode: String
    /// Who is watched, or was to be; empty unless this is about a subscription. Absent in what older versions queued.
    public var remoteParticipantID: String {
        get { remote ?? "" }
        set { remote = newValue.isEmpty ? nil : newValue }
    }
    private var remote: String?
    /// The rule of the media contract that is broken, and what to change; empty unless this is a warning.
    public var rule = ""
    public var sentence = ""
    /// Nil unless it is about a recording.
    public var recording: Recording?
    /// Nil unless it is about a replication.
    public var destination: Destination?
    /// Whether the participant, or whom it watches, publishes on another stage. Absent in what older versions queued.
    public var isReplica: Bool {
        get { replica ?? false }
        set { replica = newValue ? true : nil }
    }
    private var replica: Bool?
    /// The generation of the publish, or of the watching, that it belongs to.
    public var generation: UInt64

    public init(
        name: Name, time: WallTime, of participant: SessionParticipant, userID: String, errorCode: String = "",
        generation: UInt64 = 0
    ) {
        (sequence, self.name, self.time) = (0, name, time)
        (stageARN, sessionID, participantID) = (participant.stageARN, participant.sessionID, participant.participantID)
        (self.userID, self.errorCode, self.generation) = (userID, errorCode, generation)
    }
}
