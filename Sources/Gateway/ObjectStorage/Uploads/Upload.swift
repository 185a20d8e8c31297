/// An object that is to be stored, and who is told.
public struct Upload: Sendable {
    public var object: StoredObject
    /// The bucket's name, as the configuration file has it.
    public var bucket: String
    /// Objects of one lane are stored one after the other: a recording is one.
    public var lane: String
    /// Whether a newer upload of the same key may take its place while it waits, as of a playlist.
    public var isReplaceable = false
    /// Called once, on the uploads' thread.
    public var done: @Sendable (UploadResult) -> Void

    public init(
        _ object: StoredObject, bucket: String, lane: String, done: @escaping @Sendable (UploadResult) -> Void = { _ in }
    ) {
        (self.object, self.bucket, self.lane, self.done) = (object, bucket, lane, done)
    }
}

/// What became of an upload.
public enum UploadResult: Equatable, Sendable {
    /// The bucket has it: the local file may go.
    case stored
    /// The bucket has not, but a newer one of the same key follows.
    case replaced
    /// It never will: why, in words. What waited behind it in its lane fails too.
    case failed(String)
    /// The process ends before the bucket has it: the file has to be there at the next start.
    case interrupted
}
