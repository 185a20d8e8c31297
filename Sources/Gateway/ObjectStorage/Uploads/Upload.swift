/// An object that is to be stored, and who is told.
///
/// Uploads overtake each other: whose object needs another one first (a playlist its segments) waits until that is stored.
public struct Upload: Sendable {
    public var object: StoredObject
    /// The bucket's name, as the configuration file has it.
    public var bucket: String
    /// Called once, on the uploads' thread.
    public var done: @Sendable (UploadResult) -> Void

    public init(_ object: StoredObject, bucket: String, done: @escaping @Sendable (UploadResult) -> Void = { _ in }) {
        (self.object, self.bucket, self.done) = (object, bucket, done)
    }
}

/// What became of an upload.
public enum UploadResult: Equatable, Sendable {
    /// The bucket has it: the local file may go.
    case stored
    /// It was refused, or not taken in a day: why, in words.
    case failed(String)
    /// The process ends before the bucket has it: the file has to be there at the next start.
    case interrupted
}
