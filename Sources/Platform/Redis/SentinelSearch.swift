import EventLoop
import Wire

/// Asks all sentinels at once where the primary is, and believes the many.
final class SentinelSearch: AddressSearch {
    private let loop: EventLoop
    private let primary: String
    /// With the sentinels' credential.
    private let settings: RedisSettings
    private let lookup: HostLookup
    private let sentinels: EndpointSearch
    private var queries: [SentinelQuery] = []
    private var fault: RedisFault?
    private var round = 0

    init(loop: EventLoop, _ sentinels: Sentinels, settings: RedisSettings, lookup: HostLookup) {
        (self.loop, self.lookup, primary) = (loop, lookup, sentinels.primary)
        self.settings = sentinels.settings(from: settings)
        self.sentinels = EndpointSearch(sentinels.endpoints, lookup: lookup)
    }

    func search(_ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        round += 1
        let current = round
        (queries, fault) = ([], nil)
        sentinels.search { [weak self] result in
            guard let self, round == current else { return }
            switch result {
            case .failure(let fault): found(.failure(fault))
            case .success(let sentinels): ask(sentinels, found)
            }
        }
    }

    private func ask(_ sentinels: [ServerCandidate], _ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        var votes = SentinelVotes(sentinelCount: sentinels.count)
        var isDecided = false
        let count = { [weak self] (vote: Result<RedisEndpoint?, RedisFault>) in
            guard let self, !isDecided else { return }
            if case .failure(let fault) = vote { self.fault = fault }
            guard let endpoints = votes.add((try? vote.get()) ?? nil) else { return }
            isDecided = true
            queries = []
            decided(endpoints, found)
        }
        for sentinel in sentinels {
            do {
                queries.append(try SentinelQuery(loop: loop, sentinel, primary: primary, settings: settings, count))
            } catch {
                count(.failure(error))
            }
        }
    }

    private func decided(_ endpoints: [RedisEndpoint], _ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        if endpoints.isEmpty { return found(.failure(fault ?? .notFound("\(primary) at the sentinels"))) }
        // Sentinels may name hosts too (announce-hostnames).
        EndpointSearch(endpoints, lookup: lookup).search(found)
    }
}

/// What the sentinels say is the primary. A sentinel that was cut off may name an old one, so the many are believed first.
struct SentinelVotes {
    private let sentinelCount: Int
    private var voted = 0
    private var votes: [(endpoint: RedisEndpoint, count: Int)] = []

    init(sentinelCount: Int) { self.sentinelCount = sentinelCount }

    /// - Parameter vote: nil from a sentinel that knows no such primary, or does not answer.
    /// - Returns: whom to try, best first, as soon as more than half agree or all have spoken; nil until then.
    mutating func add(_ vote: RedisEndpoint?) -> [RedisEndpoint]? {
        voted += 1
        if let vote {
            if let index = votes.firstIndex(where: { $0.endpoint == vote }) {
                votes[index].count += 1
            } else {
                votes.append((vote, 1))
            }
        }
        let ranked = votes.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
        if let first = ranked.first, first.count > sentinelCount / 2 { return [first.endpoint] }
        return voted >= sentinelCount ? ranked.map(\.endpoint) : nil
    }
}

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
                loop: loop, address: address, tls: settings.tls?(), serverName: sentinel.name, limits: settings.limits)
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
            // The end of the connection, which follows, says more than a lost answer.
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
