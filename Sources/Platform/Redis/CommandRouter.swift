/// Knows which server carries out a command. Behind `RedisClient` stands one of its kinds for each topology.
protocol CommandRouter: AnyObject {
    /// Something that `servers` or `fault` tells has changed.
    var onChange: () -> Void { get set }
    /// Subscriptions hear all messages at these servers, and may not any more at others.
    var onServersChange: ([RedisEndpoint]) -> Void { get set }
    /// The primaries, when all of them can be had.
    var servers: [RedisServerIdentity]? { get }
    /// The latest reason why not.
    var fault: RedisFault { get }
    /// Replicas of the server that has the key.
    func replicaCount(for key: RedisArgument?) -> Int
    /// A link of its own for a subscription, to a server that hears what is published.
    func makeSubscriptionLink() -> Link

    func start()
    func close()
    /// Sends commands back to back to the server that has the key; see `RedisConnection.send`. When one of them is refused as
    /// another node's, none of them was carried out.
    func send(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void)
}
