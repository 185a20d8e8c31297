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
    /// One call after the other, many on their way at once, with the server's clock in the test's hand.
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
            // A script that the server did not know would be sent again, behind the calls that followed it.
            var loaded = 0
            for script in scripts.values {
                client.send(RedisCommand("SCRIPT", "LOAD", RedisArgument(script.source))) { _ in loaded += 1 }
            }
            guard loop.run(until: { loaded == scripts.count }, within: .seconds(60)) else { throw RedisError.away }
        }

        func send(
            _ call: ClusterCall, for settings: NodeSettings, at now: Int64, answer: @escaping (RedisReply) -> Void
        ) throws {
            client.send(RedisCommand("SET", "clock", RedisArgument(now * 1_000))) { _ in }
            let command = call.command(settings)
            let (keys, arguments) = (command.keys.map { RedisArgument($0) }, command.arguments.map { RedisArgument($0) })
            switch command.body {
            case .plain(let name): client.send(RedisCommand([RedisArgument(name)] + keys + arguments), reply: answer)
            case .script(let name):
                client.evaluate(try #require(scripts[name]), keys: keys, arguments: arguments, reply: answer)
            }
        }
    }

    private static let callsAtOnce = 50

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `three thousand random calls have the answers of the model`(seed: UInt64) throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let bed = try Bed(server)
        var random = RandomCalls(seed: seed)
        var model = ModelServer(now: 1_800_000_000_000)
        for start in stride(from: 0, to: 3_000, by: Self.callsAtOnce) {
            var asked: [(call: ClusterCall, expected: ClusterAnswer)] = []
            var replies: [RedisReply] = []
            for number in start..<(start + Self.callsAtOnce) {
                model.now += random.pause()
                let (call, settings) = random.next(number)
                let expected = model.carryOut(call, for: settings)
                try bed.send(call, for: settings, at: model.now) { replies.append($0) }
                random.learn(call, expected)
                asked.append((call, expected))
            }
            _ = bed.loop.run(until: { replies.count == asked.count }, within: .seconds(60))
            try #require(replies.count == asked.count)
            for (number, (reply, (call, expected))) in zip(start..., zip(replies, asked)) {
                let answer = ClusterAnswer(try reply.get(), to: call)
                #expect(answer?.ordered == expected.ordered, "call \(number): \(call)")
                guard answer?.ordered == expected.ordered else { return }
            }
        }
        #expect(random.kinds.count == 17, "\(random.kinds)")
        let rarely = [
            "granted", "taken over", "held", "full", "wait", "ok", "lost", "end", "surplus", "revived", "swept", "session over",
            "heard", "unheard",
        ]
        for outcome in rarely { #expect(random.outcomes[outcome, default: 0] > 0, "\(outcome): \(random.outcomes)") }
    }

    /// Its node was out of reach for longer than a session lingers: the history says that it left.
    @Test(arguments: [true, false])
    func `what comes back after its session's end goes on under another generation, in a session that is known`(
        isSwept: Bool
    ) throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let bed = try Bed(server)
        let (settings, key) = (NodeSettings(nodeID: "a"), LeaseKey(stageID: "one", participantID: "p"))
        let session = SharedSession(id: "st-1", start: 1_800_000_000_000)
        var now = session.start
        func ask(_ call: ClusterCall) throws -> ClusterAnswer? {
            var answer: RedisReply?
            try bed.send(call, for: settings, at: now) { answer = $0 }
            _ = bed.loop.run(until: { answer != nil }, within: .seconds(60))
            return ClusterAnswer(try #require(answer).get(), to: call)
        }
        let claim = ClusterCall.claim(
            number: 1,
            ClusterCall.ClaimArguments(
                key: key, set: "p", credential: "c", takesOver: 0, sessionID: session.id, lowestGeneration: 1, grace: .none,
                isOwnerSilent: false, ofDeadOwner: 0))
        let lease = LeaseIdentity(key, generation: UInt64(now))
        #expect(try ask(claim) == .claimed(.granted(.init(generation: lease.generation, session: session))))
        _ = try ask(.announce(stage: "one", sessionID: session.id))

        now += settings.cluster.leaseLifetime.milliseconds
        if isSwept {
            _ = try ask(.sweep(stage: "one", node: "a", told: []))
            #expect(try ask(.sweep(stage: "one", node: "a", told: [lease])) == .swept(left: 0, []))
        }
        _ = try ask(.idle(stage: "one"))
        now += settings.quotas.sessionLinger.milliseconds
        let dropped = isSwept ? [] : [EndedLease(lease, sessionID: session.id)]
        #expect(try ask(.idle(stage: "one")) == .idle(.ended(sessionID: session.id, dropped)))
        #expect(try ask(.idle(stage: "one", told: session.id)) == .idle(.none))

        now += 60_000
        let held = ClusterCall.RenewedLease(
            participantID: "p", generation: lease.generation, set: "p", credential: "c", session: session)
        #expect(try ask(.renew(stage: "one", [held])) == .renewed([.revived(generation: UInt64(now))]))
        let view = ClusterAnswer.StageView(session: session, isRecorded: true, participants: ["p"])
        #expect(try ask(.look(stage: "one", number: 2)) == .looked(view))

        // Whoever was told of its first end is told of this one too.
        let revived = EndedLease(LeaseIdentity(key, generation: UInt64(now)), sessionID: session.id)
        now += settings.cluster.leaseLifetime.milliseconds
        let linger = settings.quotas.sessionLinger
        #expect(try ask(.idle(stage: "one", told: session.id)) == .idle(.wait(linger)))
        now += linger.milliseconds
        #expect(try ask(.idle(stage: "one", told: session.id)) == .idle(.wait(.zero)))
        #expect(try ask(.idle(stage: "one")) == .idle(.ended(sessionID: session.id, [revived])))
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
