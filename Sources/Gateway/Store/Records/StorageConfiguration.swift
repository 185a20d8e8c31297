public import Wire

/// A bucket that recordings may be written to, by its name in the configuration file (`StorageConfiguration` of the API model).
public struct StorageConfiguration: Equatable, Sendable {
    public var arn: String
    /// 0 to 128 characters; need not be its own.
    public var name: String
    public var bucketName: String
    /// At most 50.
    public var tags: [String: String]
    public var createdAt: WallTime

    public init(arn: String, name: String = "", bucketName: String, tags: [String: String] = [:], createdAt: WallTime) {
        (self.arn, self.name, self.bucketName, self.tags, self.createdAt) = (arn, name, bucketName, tags, createdAt)
    }
}
