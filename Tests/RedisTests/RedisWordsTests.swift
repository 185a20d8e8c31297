import Testing
import Wire

@testable import Redis

@Suite("Redis commands, endpoints and INFO")
struct RedisWordsTests {
    static let commands: [(command: RedisCommand, bytes: String)] = [
        ("PING", "*1\r\n$4\r\nPING\r\n"),
        (RedisCommand("SET", "k\r\n", ""), "*3\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$0\r\n\r\n"),
        (RedisCommand("PEXPIRE", "ü\(1)", 10_000), "*3\r\n$7\r\nPEXPIRE\r\n$3\r\nü1\r\n$5\r\n10000\r\n"),
        (RedisCredential(password: Secret("p")).command, "*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n"),
        (RedisCredential(user: "u", password: Secret("p")).command, "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n"),
    ]

    @Test(arguments: 0..<commands.count)
    func `a command is an array of bulk strings`(index: Int) {
        var bytes: [UInt8] = []
        Self.commands[index].command.append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == Self.commands[index].bytes)
    }

    @Test func `a script is known by its SHA-1`() {
        // As SCRIPT LOAD answers.
        let script = RedisScript("return 1")
        #expect(script.digest == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db")
        #expect(
            script.command(true, keys: ["k"], arguments: [5])
                == RedisCommand("EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", 1, "k", 5))
        #expect(script.command(false, keys: [], arguments: []) == RedisCommand("EVAL", "return 1", 0))
    }

    static let endpoints: [(text: String, endpoint: RedisEndpoint?)] = [
        ("redis", RedisEndpoint(host: "redis", port: 6379)),
        ("redis.example:7000", RedisEndpoint(host: "redis.example", port: 7_000)),
        ("192.0.2.1:7000", RedisEndpoint(host: "192.0.2.1", port: 7_000)),
        ("192.0.2.1", RedisEndpoint(host: "192.0.2.1", port: 6379)),
        ("[2001:db8::1]:7000", RedisEndpoint(host: "2001:db8::1", port: 7_000)),
        ("", nil), (":7000", nil), ("redis:", nil), ("redis:0", nil), ("redis:70000", nil), ("a:b:c", nil),
        ("redis://host:6379", nil), ("ho st", nil), ("2001:db8::1", nil),
    ]

    @Test(arguments: 0..<endpoints.count)
    func `an endpoint is a name or an address, and a port`(index: Int) {
        #expect(RedisEndpoint(Self.endpoints[index].text) == Self.endpoints[index].endpoint)
    }

    @Test func `an endpoint prints as it is written`() {
        for text in ["redis.example:7000", "192.0.2.1:7000", "[2001:db8::1]:7000"] {
            #expect(RedisEndpoint(text)?.description == text)
        }
    }

    @Test func `INFO tells the run id, the role, the version and the replicas`() {
        let information = ServerInformation(
            "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\nrun_id:abc\r\n\r\n# Replication\r\nrole:master\r\n"
                + "connected_slaves:2\r\nmaster_replid:def\r\nloading:0\r\n")
        #expect(information.runID == "abc")
        #expect(information.version == "8.0.1")
        #expect(information.isPrimary == true)
        #expect(!information.isLoading)
        #expect(information.replicaCount == 2)
        #expect(ServerInformation("hello").isPrimary == nil)
        #expect(ServerInformation("role:slave\r\nloading:1").isPrimary == false)
        #expect(ServerInformation("role:slave\r\nloading:1").isLoading)
    }

    @Test func `a refusal is known by its first word`() {
        #expect(RedisRefusal("READONLY You can't write").code == "READONLY")
        #expect(RedisRefusal("").code == "")
    }
}
