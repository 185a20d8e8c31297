import EventLoop
import Redis
import Settings
import TestSupport
import Testing
import Wire

@testable import Cluster

/// Random operations carried out by the real scripts on a real server and by the model: the same answers.
@Suite("Scripts of the platform, against their model", .timeLimit(.minutes(10)))
struct ScriptModelTests {
    /// One call after the other, with the server's clock in the test's hand.
    final class Bed {
        let loop: EventLoop
        let client: RedisClient
        private let scripts: [ClusterScript: RedisScript]

        init(_ server: RedisServer) throws {
            loop = try EventLoop()
            var settings = RedisSettings(.standalone([RedisEndpoint(host: "127.0.0.1", port: server.port)]))
            (settings.limits.answerTimeout, settings.limits.connectTimeout) = (.seconds(60), .seconds(60))
            client = try RedisClient(loop: loop, settings: settings)
            scripts = Dictionary(
                uniqueKeysWithValues: ClusterScript.allCases.map { name in
                    let source = name.source
                    let clocked = source.replacing("redis.call('TIME')", with: "{ '0', redis.call('GET', 'clock') }")
                    precondition(source == clocked || clocked.contains("'clock'"), "the scripts ask for the time in one way")
                    return (name, RedisScript(clocked))
                })
            client.start()
            guard loop.run(until: { client.state.isConnected }, within: .seconds(60)) else { throw RedisError.away }
        }

        func carryOut(_ call: ClusterCall, for settings: NodeSettings, at now: Int64) throws -> ClusterAnswer? {
            var answer: RedisReply?
            client.send(RedisCommand("SET", "clock", RedisArgument(now * 1_000))) { _ in }
            let command = call.command(settings)
            let (keys, arguments) = (command.keys.map { RedisArgument($0) }, command.arguments.map { RedisArgument($0) })
            switch command.body {
            case .plain(let name): client.send(RedisCommand([RedisArgument(name)] + keys + arguments)) { answer = $0 }
            case .script(let name):
                let script = try #require(scripts[name])
                client.evaluate(script, keys: keys, arguments: arguments) { answer = $0 }
            }
            _ = loop.run(until: { answer != nil }, within: .seconds(60))
            return ClusterAnswer(try #require(answer).get(), to: call)
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `three thousand random calls have the answers of the model`(seed: UInt64) throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let bed = try Bed(server)
        var random = RandomCalls(seed: seed)
        var model = ModelServer(now: 1_800_000_000_000)
        for number in 0..<3_000 {
            model.now += random.pause()
            let (call, settings) = random.next(number)
            let expected = model.carryOut(call, for: settings)
            let answer = try bed.carryOut(call, for: settings, at: model.now)
            #expect(answer?.ordered == expected.ordered, "call \(number): \(call)")
            guard answer?.ordered == expected.ordered else { return }
            random.learn(call, expected)
        }
        #expect(random.kinds.count == 16, "\(random.kinds)")
        let rarely = [
            "granted", "taken over", "held", "full", "wait", "ok", "lost", "end", "surplus", "revived", "swept", "session over",
        ]
        for outcome in rarely { #expect(random.outcomes[outcome, default: 0] > 0, "\(outcome): \(random.outcomes)") }
    }
}

extension ClusterAnswer {
    /// Hashes have no order that means anything.
    var ordered: ClusterAnswer {
        switch self {
        case .ended(let leases): .ended(leases.sorted { $0.lease.key.participantID < $1.lease.key.participantID })
        case .swept(let left, let ended):
            .swept(left: left, ended.sorted { $0.lease.key.participantID < $1.lease.key.participantID })
        case .idle(.ended(let session, let ended)):
            .idle(.ended(sessionID: session, ended.sorted { $0.lease.key.participantID < $1.lease.key.participantID }))
        case .names(let names): .names(names.sorted())
        default: self
        }
    }
}
