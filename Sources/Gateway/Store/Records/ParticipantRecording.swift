/// How a participant's recording stands (`ParticipantRecordingState` of the API model, without DISABLED), and where it lies.
public struct ParticipantRecording: Codable, Equatable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        /// The publish began; nothing is stored yet.
        case starting = "STARTING"
        case active = "ACTIVE"
        /// The publish is over: the reconnect window runs, or files are on their way.
        case stopping = "STOPPING"
        /// Every file is stored.
        case stopped = "STOPPED"
        case failed = "FAILED"
    }

    public var state: State
    public var bucketName: String
    /// Without a slash at its end.
    public var prefix: String

    public init(_ state: State, bucketName: String, prefix: String) {
        (self.state, self.bucketName, self.prefix) = (state, bucketName, prefix)
    }
}
