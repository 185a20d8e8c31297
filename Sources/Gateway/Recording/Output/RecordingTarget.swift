/// Where the objects of recordings go: a folder of this machine, a bucket of a store that speaks S3.
///
/// One object of a recording is under way at a time, and the next is given when it is stored: what a playlist names exists.
public protocol RecordingTarget: Sendable {
    /// Stores an object in place of the one of that key, if there is one.
    ///
    /// Never blocks for longer than a disk takes; what a network takes, a loop of the target's own waits for. A store that is away or
    /// busy it tries again by itself, for hours. What comes as an error will not be stored, or is given to it once more in a while.
    /// - Parameter then: called once, on any thread.
    func put(_ object: RecordedObject, then: @escaping @Sendable (Result<Void, RecordingTargetError>) -> Void)
}

/// One object of a recording.
public struct RecordedObject: Sendable, Equatable {
    public enum Content: Sendable, Equatable {
        case bytes([UInt8])
        /// A file of the spool: whole, not changed any more, and there until the target has answered.
        case file(path: String, byteCount: Int)
    }

    /// Below the bucket: `<stageId>/<stageSessionId>/<participantId>/<time>/media/hls/high/1.mp4`.
    public var key: String
    public var content: Content
    public var contentType: String
    /// Another one takes its place soon, and after a crash: a disk need not have it before the target answers.
    public var isProvisional: Bool

    public init(key: String, content: Content, contentType: String, isProvisional: Bool = false) {
        (self.key, self.content, self.contentType, self.isProvisional) = (key, content, contentType, isProvisional)
    }
}

/// Why an object is not stored.
public struct RecordingTargetError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A sentence for the operator, without secrets.
    public var description: String
    /// It may be stored later.
    public var isPassing: Bool

    public init(_ description: String, isPassing: Bool = false) {
        (self.description, self.isPassing) = (description, isPassing)
    }
}
