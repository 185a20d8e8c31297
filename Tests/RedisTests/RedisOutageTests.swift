import EventLoop
import Foundation
import Redis
import TestSupport
import Testing
import Wire

@Suite("Redis client, the server away and back", .timeLimit(.minutes(10)), .serialized)
struct RedisOutageTests {
    @Test func `a killed server is told, commands fail at once, and the new one is another by its run id`() throws {
        let server = try RedisServer(["appendonly yes", "appendfsync always"])
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        let before = bed.client.state.runIDs
        #expect(bed.answer(RedisCommand("SET", "kept", "yes")) == .success(.status("OK")))
        server.kill()
        #expect(bed.wait { !bed.client.state.isConnected })
        #expect(bed.answer("PING") == .failure(.away))
        try server.start()
        #expect(bed.waitUntilConnected())
        #expect(bed.client.state.runIDs != before)
        #expect(bed.client.state.runIDs.count == 1)
        #expect(bed.answer(RedisCommand("GET", "kept"))?.text == "yes")
    }

    @Test func `commands under way when the server dies are lost, each told once`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        server.pause()
        var answers: [RedisReply] = []
        for _ in 0..<100 { bed.client.send(RedisCommand("INCR", "n")) { answers.append($0) } }
        server.kill()
        #expect(bed.wait { answers.count == 100 })
        #expect(answers.allSatisfy { $0 == .failure(.lost) })
        #expect(!bed.loop.run(until: { answers.count > 100 }, within: .milliseconds(50)))
    }

    @Test func `a paused server is away within its time, also without commands, and back when it goes on`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server) { $0.limits.expectAnswers(within: .seconds(1)) }
        #expect(bed.waitUntilConnected())
        let before = bed.client.state.runIDs
        server.pause()
        #expect(bed.wait { !bed.client.state.isConnected })
        #expect(bed.states.contains { $0.fault == .ended(server.address, .silent) })
        // A paused server's kernel still takes connections: the greeting is what must not count.
        #expect(bed.wait { bed.states.contains { $0.fault == .connectTimedOut(server.address) } })
        #expect(!bed.client.state.isConnected)
        server.resume()
        #expect(bed.waitUntilConnected())
        #expect(bed.client.state.runIDs == before)
    }

    @Test func `attempts in vain leave no descriptor behind`() throws {
        let server = try RedisServer()
        server.kill()
        let bed = try RedisTestbed(server) {
            ($0.limits.shortestPause, $0.limits.longestPause) = (.milliseconds(1), .milliseconds(1))
        }
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let before = try descriptors()
        // The reason stays the same, so it is told once: some hundred attempts of a millisecond follow it.
        #expect(bed.wait { !bed.states.isEmpty })
        _ = bed.loop.run(until: { false }, within: .milliseconds(500))
        #expect(try descriptors() <= before + 2)
        try server.start()
        #expect(bed.waitUntilConnected())
    }

    @Test func `a server that becomes a replica is left within a heartbeat`() throws {
        let server = try RedisServer()
        let other = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        try server.ask("REPLICAOF", "127.0.0.1", "\(other.port)")
        #expect(bed.wait { bed.states.contains { $0.fault == .notPrimary(server.address) } })
        try server.ask("REPLICAOF", "NO", "ONE")
        #expect(bed.waitUntilConnected())
    }

    @Test func `a durable write tells how many replicas have it`() throws {
        let primary = try RedisServer()
        let bed = try RedisTestbed(primary)
        #expect(bed.waitUntilConnected())
        var replicas: [Int] = []
        var isAsked = false
        func write() {
            guard !isAsked else { return }
            isAsked = true
            bed.client.sendDurably(RedisCommand("INCR", "n"), within: .seconds(1)) { reply in
                isAsked = false
                replicas.append((try? reply.get().replicas) ?? -1)
            }
        }
        write()
        #expect(bed.wait { replicas == [0] })
        let replica = try RedisServer(["replicaof 127.0.0.1 \(primary.port)"])
        let again = bed.loop.schedule(after: .zero, repeating: .milliseconds(20)) { write() }
        #expect(bed.wait { replicas.last == 1 })
        again.cancel()
        #expect(bed.wait { !isAsked })
        #expect(try replica.ask("GET", "n") == primary.ask("GET", "n"))
    }

    @Test func `a subscription hears every message, tells when it was deaf, and hears again`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        var changes: [RedisSubscription.Change] = []
        var heard: [String] = []
        let subscription = bed.client.subscribe(to: ["a", "b"], onChange: { changes.append($0) }) { channel, payload in
            heard.append("\(channel) \(String(decoding: payload, as: UTF8.self))")
        }
        #expect(bed.wait { changes == [.listening] })
        for number in 0..<100 { #expect(bed.answer(RedisCommand("PUBLISH", number % 2 == 0 ? "a" : "b", "\(number)")) != nil) }
        #expect(bed.wait { heard.count == 100 })
        #expect(heard == (0..<100).map { "\($0 % 2 == 0 ? "a" : "b") \($0)" })
        server.kill()
        #expect(bed.wait { changes.count == 2 })
        #expect(!subscription.isListening)
        try server.start()
        #expect(bed.wait { changes.count == 3 && bed.client.state.isConnected })
        #expect(changes[2] == .listening)
        #expect(bed.answer(RedisCommand("PUBLISH", "b", "again")) == .success(.integer(1)))
        #expect(bed.wait { heard.last == "b again" })
    }

    @Test func `a subscription notices a silent server by itself`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server) { $0.limits.expectAnswers(within: .seconds(1)) }
        let silence = RedisSubscription.Change.deaf(.ended(server.address, .silent))
        var changes: [RedisSubscription.Change] = []
        let subscription = bed.client.subscribe(to: ["a"], onChange: { changes.append($0) }, onMessage: { _, _ in })
        #expect(bed.wait { changes == [.listening] })
        server.pause()
        #expect(bed.wait { changes.last == silence })
        server.resume()
        #expect(bed.wait { changes.last == .listening && subscription.isListening })
    }
}
