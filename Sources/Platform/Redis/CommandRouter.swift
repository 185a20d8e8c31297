/// Knows which server carries out a command. Behind `RedisClient` stands one of its kinds for each topology.
protocol CommandRouter: AnyObject {
    /// Something that `servers` or `fault` tells has changed.
    var onChange: () -> Void { get set }
    /// The primaries, when all of them can be had.
    var servers: [RedisServerIdentity]? { get }
    /// The latest reason why not.
    var fault: RedisFault { get }
    /// Replicas of the server that has the key.
    func replicaCount(for key: RedisArgument?) -> Int
    /// Where subscriptions look for a server.
    func makeSubscriptionSearch() -> any AddressSearch

    func start()
    func close()
    /// Sends commands back to back to the server that has the key; see `RedisConnection.send`.
    func send(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void)
}
