import EventLoop
import Redis
import TestSupport
import Testing
import Wire

/// A client on a loop of its own, and what its callbacks told.
final class RedisTestbed {
    let loop: EventLoop
    let settings: RedisSettings
    let client: RedisClient
    private(set) var states: [RedisState] = []

    init(_ settings: RedisSettings, isStarted: Bool = true) throws {
        self.settings = settings
        loop = try EventLoop()
        client = try RedisClient(loop: loop, settings: settings)
        client.onStateChange = { [unowned self] in states.append($0) }
        if isStarted { client.start() }
    }

    convenience init(_ server: RedisServer, _ adjust: (inout RedisSettings) -> Void = { _ in }) throws {
        var settings = RedisSettings(.standalone([RedisEndpoint(host: "127.0.0.1", port: server.port)]))
        settings.limits = .patient
        adjust(&settings)
        try self.init(settings)
    }

    /// Runs the loop until it is so; generous, because the machine may be busy.
    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(60)) }

    func waitUntilConnected() -> Bool { wait { client.state.isConnected } }

    /// Asks the outside world again and again, and runs the loop in between.
    func poll(_ isDone: () throws -> Bool) throws -> Bool {
        for _ in 0..<600 {
            if try isDone() { return true }
            _ = loop.run(until: { false }, within: .milliseconds(100))
        }
        return false
    }

    /// The answer to one command, waited for.
    func answer(_ command: RedisCommand, key: RedisArgument? = nil) -> RedisReply? {
        var answer: RedisReply?
        client.send(command, key: key) { answer = $0 }
        _ = wait { answer != nil }
        return answer
    }
}

extension RedisLimits {
    /// A machine with more to do than it can must not look like a server that is away; demotions are still found soon.
    static let patient: RedisLimits = {
        var limits = RedisLimits()
        limits.expectAnswers(within: .seconds(30))
        limits.heartbeat = .milliseconds(200)
        return limits
    }()

    /// For tests of silence.
    mutating func expectAnswers(within limit: Duration) { (connectTimeout, answerTimeout) = (limit * 0.9, limit) }
}
