import EventLoop
import Redis
import Store
import Wire

/// Redis for a thread that waits: it sends, then turns its loop until it is answered. Confined to the loop's thread.
///
/// Never used from inside the loop's callbacks, which cannot turn the loop again.
final class WaitingClient: DatabaseServer {
    /// An answer that takes longer counts as none.
    static let maximumWait = Duration.seconds(2)
    /// A database that went away a moment ago is waited for; one that is away for longer is not.
    static let maximumPatience = Duration.seconds(2)
    /// Questions under way at once, fewer than a connection takes.
    static let maximumWindow = 1_000
    /// The list of all records of a kind is one answer: a million ids have a place.
    static let (maximumAnswerElements, maximumAnswerBytes) = (1 << 20, 64 << 20)

    let client: RedisClient
    private let loop: EventLoop
    private var awaySince: MonotonicTime

    init(loop: EventLoop, settings: RedisSettings) throws(StoreError) {
        var settings = settings
        settings.limits.answerTimeout = Self.maximumWait
        settings.limits.maximumReplyElements = Self.maximumAnswerElements
        settings.limits.maximumReplyBytes = Self.maximumAnswerBytes
        do { client = try RedisClient(loop: loop, settings: settings) } catch { throw .failed(reason: "\(error)") }
        self.loop = loop
        awaySince = EventLoop.monotonicNow()
    }

    func start() { client.start() }

    func close() { client.close() }

    /// Waits for the connection, at most until `limit` has passed.
    func connect(within limit: Duration) -> Bool {
        loop.run(until: { client.state.isConnected }, within: limit)
    }

    func ask(_ questions: [Question]) throws(StoreError) -> [RedisValue] {
        try requireConnection()
        var values: [RedisValue] = []
        for start in stride(from: 0, to: questions.count, by: Self.maximumWindow) {
            values += try askAtOnce(questions[start..<min(start + Self.maximumWindow, questions.count)])
        }
        return values
    }

    func settle(_ key: String) throws(StoreError) -> Bool {
        guard client.replicaCount(for: RedisArgument(key)) > 0 else { return true }
        let answers = Answers(count: 1)
        client.sendDurably("PING", key: RedisArgument(key), within: .seconds(1)) { reply in
            answers.take(reply.map { .integer(Int64($0.replicas)) }, at: 0)
        }
        return try answers.wait(loop)[0].integer ?? 0 > 0
    }

    private func askAtOnce(_ questions: ArraySlice<Question>) throws(StoreError) -> [RedisValue] {
        let answers = Answers(count: questions.count)
        for (index, question) in questions.enumerated() {
            switch question {
            case .command(let command, let key):
                client.send(command, key: RedisArgument(key)) { answers.take($0, at: index) }
            case .script(let script, let keys, let arguments):
                client.evaluate(script, keys: keys.map { RedisArgument($0) }, arguments: arguments) {
                    answers.take($0, at: index)
                }
            }
        }
        return try answers.wait(loop)
    }

    /// Waits for a connection that was lost a moment ago.
    /// - Throws: `.away` when there is none.
    func requireConnection() throws(StoreError) {
        guard case .away(let since, _) = client.state else { return }
        let patience = Self.maximumPatience - (EventLoop.monotonicNow() - max(since, awaySince))
        guard patience > .zero, connect(within: patience) else { throw .away }
    }
}

/// What has been answered of several questions.
private final class Answers {
    private var replies: [RedisReply?]
    private var missing: Int

    init(count: Int) { (replies, missing) = (Array(repeating: nil, count: count), count) }

    func take(_ reply: RedisReply, at index: Int) {
        replies[index] = reply
        missing -= 1
    }

    func wait(_ loop: EventLoop) throws(StoreError) -> [RedisValue] {
        guard loop.run(until: { missing == 0 }, within: WaitingClient.maximumWait * 2) else { throw .away }
        var values: [RedisValue] = []
        for reply in replies {
            switch reply {
            case .success(let value)?: values.append(value)
            case .failure(.refused(let refusal))? where !refusal.isPassing: throw .failed(reason: refusal.message)
            case .failure?, nil: throw .away
            }
        }
        return values
    }
}

extension RedisRefusal {
    /// The server will take the same command once it has found itself again.
    fileprivate var isPassing: Bool {
        ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "BUSY"].contains(code)
    }
}
