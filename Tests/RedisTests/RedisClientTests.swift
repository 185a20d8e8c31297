import EventLoop
import Foundation
import OpenSSL
import Redis
import TestSupport
import Testing
import Wire

@Suite("Redis client, one server", .timeLimit(.minutes(10)), .serialized)
struct RedisClientTests {
    @Test func `commands of every answer type are answered in order`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        #expect(bed.answer(RedisCommand("SET", "a", "1")) == .success(.status("OK")))
        #expect(bed.answer(RedisCommand("INCR", "a")) == .success(.integer(2)))
        #expect(bed.answer(RedisCommand("GET", "a")) == .success(.string(Array("2".utf8))))
        #expect(bed.answer(RedisCommand("GET", "b")) == .success(.null))
        #expect(bed.answer(RedisCommand("MGET", "a", "b")) == .success(.array([.string(Array("2".utf8)), .null])))
        guard case .failure(.refused(let refusal))? = bed.answer(RedisCommand("LPUSH", "a", "x")) else {
            Issue.record("a list was made of a string")
            return
        }
        #expect(refusal.code == "WRONGTYPE")
        #expect(bed.client.state.runIDs == [try server.ask("INFO", "server").information("run_id")])
    }

    @Test func `three thousand commands in one turn keep their order`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        var answers: [RedisReply] = []
        for _ in 0..<3_000 { bed.client.send(RedisCommand("INCR", "n")) { answers.append($0) } }
        #expect(bed.wait { answers.count == 3_000 })
        #expect(answers == (1...3_000).map { .success(.integer($0)) })
    }

    @Test func `beyond the limit of the pipeline commands are refused and the others answered`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server) { $0.limits.maximumPipelinedCommands = 10 }
        #expect(bed.waitUntilConnected())
        // The heartbeat's own command may be under way.
        var answers: [RedisReply] = []
        for _ in 0..<20 { bed.client.send(RedisCommand("INCR", "n")) { answers.append($0) } }
        #expect(answers.isEmpty)
        #expect(bed.wait { answers.count == 20 })
        let refused = answers.filter { $0 == .failure(.pipelineFull) }.count
        #expect((10...11).contains(refused))
        #expect(bed.answer(RedisCommand("GET", "n"))?.text == "\(20 - refused)")
    }

    @Test func `any bytes travel as values, and megabytes of them`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        for value in [[], [0], Array("\r\n$5\r\n".utf8), bytes] {
            #expect(bed.answer(RedisCommand("SET", "value", RedisArgument(value))) == .success(.status("OK")))
            #expect(bed.answer(RedisCommand("GET", "value")) == .success(.string(value)))
        }
    }

    @Test func `an answer that is too long ends the connection, and the next commands work`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server) { $0.limits.maximumReplyBytes = 1 << 20 }
        #expect(bed.waitUntilConnected())
        #expect(bed.answer(RedisCommand("SETRANGE", "big", 3_000_000, "x")) == .success(.integer(3_000_001)))
        #expect(bed.answer(RedisCommand("GET", "big")) == .failure(.lost))
        #expect(bed.states.contains { $0.fault == .ended(server.address, .malformed(.tooLong)) })
        #expect(bed.waitUntilConnected())
        #expect(bed.answer(RedisCommand("STRLEN", "big")) == .success(.integer(3_000_001)))
    }

    @Test func `a script is sent by its text once, then by its digest, and again after the server forgot it`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        #expect(bed.waitUntilConnected())
        let script = RedisScript("return {KEYS[1], ARGV[1], redis.call('INCR', KEYS[1])}")
        var answers: [RedisReply] = []
        for round in 1...3 {
            if round == 3 { try server.ask("SCRIPT", "FLUSH") }
            bed.client.evaluate(script, keys: ["k"], arguments: ["v"]) { answers.append($0) }
            #expect(bed.wait { answers.count == round })
            let expected: RedisValue = .array([.string(Array("k".utf8)), .string(Array("v".utf8)), .integer(Int64(round))])
            #expect(answers.last == .success(expected))
        }
        let calls = try server.ask("INFO", "commandstats")
        #expect(calls.contains("cmdstat_eval:calls=2"))
        #expect(calls.contains("cmdstat_evalsha:calls=3"))
    }

    @Test func `a user's password and a database are used`() throws {
        let server = try RedisServer(["requirepass first", "user gate on >second ~* &* +@all"])
        for credential in [
            RedisCredential(password: Secret("first")), RedisCredential(user: "gate", password: Secret("second")),
        ] {
            let bed = try RedisTestbed(server) {
                $0.credential = credential
                $0.database = 3
            }
            #expect(bed.waitUntilConnected())
            #expect(
                bed.answer(RedisCommand("SET", "here", RedisArgument(credential.user ?? "default"))) == .success(.status("OK")))
        }
        #expect(try server.ask("-a", "first", "-n", "3", "GET", "here") == "gate")
    }

    @Test(arguments: [nil, "wrong"])
    func `a wrong password is told in the server's words, and no command leaves`(password: String?) throws {
        let server = try RedisServer(["requirepass right"])
        let bed = try RedisTestbed(server) { $0.credential = password.map { RedisCredential(password: Secret($0)) } }
        #expect(bed.wait { bed.states.contains { $0.refusal?.code == (password == nil ? "NOAUTH" : "WRONGPASS") } })
        #expect(bed.answer(RedisCommand("SET", "a", 1)) == .failure(.away))
    }

    @Test func `a server that takes no more clients is told in its words`() throws {
        let server = try RedisServer()
        let first = try RedisTestbed(server)
        #expect(first.waitUntilConnected())
        #expect(first.answer(RedisCommand("CONFIG", "SET", "maxclients", 1)) == .success(.status("OK")))
        let second = try RedisTestbed(server)
        #expect(second.wait { second.states.contains { $0.refusal?.message.contains("max number of clients") == true } })
        #expect(first.answer(RedisCommand("CONFIG", "SET", "maxclients", 100)) == .success(.status("OK")))
        #expect(second.waitUntilConnected())
    }

    @Test func `what is sent before the connection stands or after close is refused, never from inside the call`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        var answers: [RedisReply] = []
        bed.client.send("PING") { answers.append($0) }
        #expect(answers.isEmpty)
        #expect(bed.wait { answers.count == 1 })
        #expect(bed.waitUntilConnected())
        bed.client.send("PING") { answers.append($0) }
        bed.client.close()
        bed.client.send("PING") { answers.append($0) }
        #expect(bed.wait { answers.count == 3 })
        #expect(answers == [.failure(.away), .failure(.lost), .failure(.away)])
        #expect(bed.client.state.fault == .closed)
    }

    @Test func `a client that is dropped leaves no command without an answer`() throws {
        let server = try RedisServer()
        let bed = try RedisTestbed(server)
        var answers: [RedisReply] = []
        for state in ["before", "connected"] {
            var client: RedisClient? = try RedisClient(loop: bed.loop, settings: bed.settings)
            client?.start()
            if state == "connected" { #expect(bed.wait { client?.state.isConnected == true }) }
            client?.send("PING") { answers.append($0) }
            client = nil
            #expect(bed.wait { !answers.isEmpty })
        }
        #expect(bed.wait { answers.count == 2 })
        #expect(answers == [.failure(.away), .failure(.lost)])
    }

    @Test func `TLS is spoken with a server whose certificate shows its name, and with no other`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "Redis test CA", now: now, validFor: .seconds(3_600))
        let identity = try authority.issue(
            commonName: "localhost", dnsNames: ["localhost"], addresses: [], now: now, validFor: .seconds(3_600))
        let files = FileManager.default.temporaryDirectory.appending(path: "stagedoor-redis-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: files) }
        for (name, pem) in [
            ("cert", try identity.certificate.pem()), ("key", try identity.key.pem().reveal()),
            ("ca", try authority.certificate.pem()),
        ] { try Data(pem).write(to: files.appending(path: name)) }
        let port = FreePorts.tcp()
        let server = try RedisServer([
            "tls-port \(port)", "tls-cert-file \(files.path)/cert", "tls-key-file \(files.path)/key",
            "tls-ca-cert-file \(files.path)/ca", "tls-auth-clients no",
        ])
        func bed(_ host: String) throws -> RedisTestbed {
            var settings = RedisSettings(.standalone([RedisEndpoint(host: host, port: port)]))
            let context = try TLSContext(clientTrusting: [authority.certificate])
            settings.tls = { context }
            settings.limits = .patient
            return try RedisTestbed(settings)
        }
        let named = try bed("localhost")
        #expect(named.waitUntilConnected())
        let value = RedisArgument([UInt8](repeating: 7, count: 1_000_000))
        #expect(named.answer(RedisCommand("SET", "big", value)) == .success(.status("OK")))
        #expect(named.answer(RedisCommand("GET", "big")) == .success(.string(value.bytes)))
        #expect(try server.ask("STRLEN", "big") == "1000000")
        let unnamed = try bed("127.0.0.1")
        #expect(unnamed.wait { unnamed.states.contains { "\($0)".contains("TLS: ") } })
        #expect(!unnamed.client.state.isConnected)
    }

    @Test func `a name is looked up, and servers of a list are tried in turn`() throws {
        let server = try RedisServer()
        let nobody = try RedisServer()
        nobody.kill()
        let bed = try RedisTestbed(
            RedisSettings(
                .standalone([
                    RedisEndpoint(host: "127.0.0.1", port: nobody.port), RedisEndpoint(host: "localhost", port: server.port),
                ])))
        #expect(bed.waitUntilConnected())
        #expect(bed.answer("PING") == .success(.status("PONG")))
    }
}

extension RedisReply {
    var text: String? { (try? get())?.text }
    var isSuccess: Bool { (try? get()) != nil }
}

extension RedisState {
    var servers: [RedisServerIdentity] { if case .connected(let servers) = self { servers } else { [] } }
    var fault: RedisFault? { if case .away(_, let fault) = self { fault } else { nil } }
    var refusal: RedisRefusal? { if case .refused(_, let refusal)? = fault { refusal } else { nil } }
}

extension String {
    /// A field of INFO's text.
    func information(_ name: String) -> String {
        for line in split(whereSeparator: \.isNewline) where line.hasPrefix("\(name):") {
            return String(line.dropFirst(name.count + 1))
        }
        return ""
    }
}
