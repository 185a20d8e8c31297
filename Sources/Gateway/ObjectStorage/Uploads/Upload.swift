/// An object that is to be stored, and who is told.
///
/// Uploads overtake each other: whose object needs another one first (a playlist its segments) waits until that is stored.
public struct Upload: Sendable {
    public var object: StoredObject
    /// The bucket's name, as the configuration file has it.
    public var bucket: String
    /// The bucket has taken something of the same recording, perhaps before a restart.
    public var isBucketProven: Bool
    /// Called once, on its bucket's thread.
    public var done: @Sendable (UploadResult) -> Void
    /// Asked before each try, on its bucket's thread: what nobody wants any more is interrupted.
    public var isWanted: @Sendable () -> Bool

    public init(
        _ object: StoredObject, bucket: String, isBucketProven: Bool = false,
        done: @escaping @Sendable (UploadResult) -> Void = { _ in }, isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
        (self.object, self.bucket, self.isBucketProven) = (object, bucket, isBucketProven)
        (self.done, self.isWanted) = (done, isWanted)
    }
}

/// What became of an upload.
public enum UploadResult: Equatable, Sendable {
    /// The bucket has it: the local file may go.
    case stored
    /// It was refused, or not taken in a day: why, in words.
    case failed(String)
    /// Nobody wants it any more, or the process ends before the bucket has it: then the file has to be there at the next start.
    case interrupted
}
