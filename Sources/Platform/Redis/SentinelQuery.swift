import EventLoop
import Wire

/// Asks one sentinel once where the primary is.
final class SentinelQuery {
    private let connection: RedisConnection
    private var deadline: TimerWatch?
    private var done: ((Result<RedisEndpoint?, RedisFault>) -> Void)?

    /// Calls `done` once, never from inside this call; not after the query was dropped.
    /// - Parameter settings: whose credential is the sentinel's.
    init(
        loop: EventLoop, _ sentinel: ServerCandidate, primary: String, settings: RedisSettings,
        _ done: @escaping (Result<RedisEndpoint?, RedisFault>) -> Void
    ) throws(RedisFault) {
        self.done = done
        let address = sentinel.address
        do {
            connection = try RedisConnection(
                loop: loop, address: address, tls: settings.tls, serverName: sentinel.name, limits: settings.limits)
        } catch {
            throw .noSocket(error)
        }
        deadline = loop.schedule(after: settings.limits.connectTimeout) { [unowned self] in
            finish(.failure(.connectTimedOut(address)))
        }
        connection.onClosed = { [unowned self] in finish(.failure(.ended(address, $0))) }
        let question = RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", RedisArgument(primary))
        let greeting = settings.credential.map { [$0.command] } ?? []
        connection.send(greeting + [question]) { [weak self] replies in self?.take(replies, from: address) }
    }

    deinit { deadline?.cancel() }

    private func take(_ replies: [RedisReply], from address: SocketAddress) {
        for case .failure(let error) in replies {
            // The end of the connection, which follows, tells more than a lost answer.
            if case .refused(let refusal) = error { finish(.failure(.refused(address, refusal))) }
            return
        }
        finish(.success((try? replies.last?.get()).flatMap(Self.endpoint(of:))))
    }

    /// The primary's host and port, or null for a name that the sentinel does not know.
    private static func endpoint(of answer: RedisValue) -> RedisEndpoint? {
        guard let parts = answer.elements, parts.count == 2, let host = parts[0].text, !host.isEmpty,
            let port = parts[1].integer.flatMap({ UInt16(exactly: $0) })
        else { return nil }
        return RedisEndpoint(host: host, port: port)
    }

    private func finish(_ result: Result<RedisEndpoint?, RedisFault>) {
        guard let done else { return }
        self.done = nil
        deadline?.cancel()
        connection.close()
        done(result)
    }
}
