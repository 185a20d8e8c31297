/// Commands on their way to the node that carries them out.
final class ClusterRequest {
    let commands: [RedisCommand]
    let key: RedisArgument?
    let replies: ([RedisReply]) -> Void
    var redirections = Redirections()

    init(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void) {
        (self.commands, self.key, self.replies) = (commands, key, replies)
    }

    func fail(_ error: RedisError) { replies(commands.map { _ in .failure(error) }) }
}
