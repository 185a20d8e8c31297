import ObjectStorage

/// A publish that is recorded: whose it is, how, and where its blocks come.
struct RecordedPublish: Sendable {
    let participant: RecordedParticipant
    let plan: RecordingPlan
    let feed: RecordingFeed
    /// Stamps of both tracks are of one clock (RTMP).
    let tracksShareClock: Bool
}

/// What the writer's thread is told.
enum RecordingMessage: Sendable {
    case began(RecordedPublish)
    case answered(ObjectIdentifier, UploadResult)
    /// Of a recording that another node may have by now.
    case registerRead(ObjectIdentifier, Result<RegisterPage?, any Error>)
    /// For a publish whose participant another node may have recorded.
    case resumption(of: ObjectIdentifier, Result<RegisterPage?, any Error>)
    /// Nil when no picture came out of the keyframe.
    case pictured(ObjectIdentifier, [UInt8]?)
    case stop
}
