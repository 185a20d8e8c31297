public import Wire

/// A virtual space where participants exchange audio and video (`Stage` of the API model).
public struct Stage: Equatable, Sendable {
    public var arn: String
    /// 0 to 128 characters; empty when none was given.
    public var name: String
    /// At most 50.
    public var tags: [String: String]
    public var createdAt: WallTime

    /// The text after `stage/` in the ARN: the token's `topic` and the metrics' dimension.
    public var id: String { ResourceName.identifier(inARN: arn) }

    public init(arn: String, name: String = "", tags: [String: String] = [:], createdAt: WallTime) {
        (self.arn, self.name, self.tags, self.createdAt) = (arn, name, tags, createdAt)
    }
}
