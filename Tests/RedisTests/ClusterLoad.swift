import EventLoop
import Redis

/// Four requests every 5 ms: new and old keys of one slot, two keys at once there, and keys of everywhere.
final class ClusterLoad {
    private(set) var asked = 0
    private(set) var answered = 0
    private(set) var refusals: [RedisRefusal] = []
    private(set) var failures: [RedisError] = []

    private let client: RedisClient
    private var timer: TimerWatch?
    private let script = RedisScript("return redis.call('INCR', KEYS[1]) + redis.call('INCR', KEYS[2])")

    init(_ bed: RedisTestbed) {
        client = bed.client
        timer = bed.loop.schedule(after: .zero, repeating: .milliseconds(5)) { [unowned self] in ask() }
    }

    func stop() { timer?.cancel() }

    private func ask() {
        let number = asked
        asked += 4
        let old: RedisArgument = "{stage}:old:\(number % 100)"
        let elsewhere: RedisArgument = "elsewhere:\(number % 100)"
        client.send(RedisCommand("SET", "{stage}:new:\(number)", 1), key: "{stage}") { [unowned self] in count($0) }
        client.send(RedisCommand("INCR", old), key: old) { [unowned self] in count($0) }
        client.send(RedisCommand("INCR", elsewhere), key: elsewhere) { [unowned self] in count($0) }
        client.evaluate(script, keys: [old, "{stage}:old:7"]) { [unowned self] in count($0) }
    }

    private func count(_ reply: RedisReply) {
        answered += 1
        switch reply {
        case .success: break
        case .failure(.refused(let refusal)): refusals.append(refusal)
        case .failure(let error): failures.append(error)
        }
    }
}

extension RedisTestbed {
    /// Waits for so many more answers.
    func wait(for count: Int, of load: ClusterLoad) -> Bool {
        let before = load.answered
        return wait { load.answered >= before + count }
    }
}
