public import Redis
import Wire

/// Which database a platform has, and what in it is ours.
public struct RedisStoreSettings: Sendable {
    public var redis: RedisSettings
    /// Before every key and channel.
    public var keyPrefix = "sd:"
    public var platformKey: PlatformKey
    /// The name of this node among those of the platform.
    public var node: String
    /// How long sessions are kept after their end.
    public var retention: Duration = .seconds(14 * 86_400)
    /// How long the database may take to answer at start.
    public var startTimeout: Duration = .seconds(10)

    public init(redis: RedisSettings, platformKey: PlatformKey, node: String) {
        (self.redis, self.platformKey, self.node) = (redis, platformKey, node)
    }
}
