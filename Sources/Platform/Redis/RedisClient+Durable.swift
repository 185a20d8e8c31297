import Wire

extension RedisClient {
    /// An answer, and how many replicas had the write by then.
    public typealias DurableReply = Result<(value: RedisValue, replicas: Int), RedisError>

    /// How long a replica is waited for, where the caller does not say.
    public static let replicaPatience = Duration.milliseconds(200)

    /// How many replicas the server that has the key knows of, as of its last heartbeat.
    public func replicaCount(for key: RedisArgument? = nil) -> Int { router.replicaCount(for: key) }

    /// Sends a write and waits until one replica has it too (WAIT), so that it outlives its primary. A primary without replicas
    /// is not asked to wait for one.
    ///
    /// Commands that follow on the same connection wait as long, which is why the wait is short.
    /// - Parameter limit: how long a replica is waited for. When that was too short the number is 0, and the write stands.
    public func sendDurably(
        _ command: RedisCommand, key: RedisArgument? = nil, within limit: Duration = replicaPatience,
        reply: @escaping (DurableReply) -> Void
    ) {
        guard router.replicaCount(for: key) > 0 else { return send(command, key: key) { reply($0.map { ($0, 0) }) } }
        let wait = RedisCommand("WAIT", 1, RedisArgument(max(1, limit.milliseconds)))
        router.send([command, wait], key: key) { answers in
            let replicas = (try? answers[1].get().integer) ?? 0
            reply(answers[0].map { ($0, Int(replicas)) })
        }
    }

    /// Runs a script that writes, and waits until one replica has what it wrote: `evaluate` and `sendDurably` in one.
    public func evaluateDurably(
        _ script: RedisScript, keys: [RedisArgument], arguments: [RedisArgument] = [], within limit: Duration = replicaPatience,
        reply: @escaping (DurableReply) -> Void
    ) {
        sendDurably(script.command(true, keys: keys, arguments: arguments), key: keys.first, within: limit) {
            [weak self] answer in
            guard case .failure(.refused(let refusal)) = answer, refusal.code == "NOSCRIPT", let self else {
                return reply(answer)
            }
            let text = script.command(false, keys: keys, arguments: arguments)
            sendDurably(text, key: keys.first, within: limit, reply: reply)
        }
    }
}
