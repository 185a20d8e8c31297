public import Redis
public import Settings

/// Which database a cluster has, and what in it is ours.
public struct RedisStoreSettings: Sendable {
    public var redis: RedisSettings
    public var platformKey: PlatformKey
    /// The name of this node among those of the platform.
    public var node: String
    public var cluster: ClusterSettings
    public var events: EventSettings

    public init(
        redis: RedisSettings, platformKey: PlatformKey, node: String, cluster: ClusterSettings = ClusterSettings(),
        events: EventSettings = EventSettings()
    ) {
        (self.redis, self.platformKey, self.node) = (redis, platformKey, node)
        (self.cluster, self.events) = (cluster, events)
    }
}
