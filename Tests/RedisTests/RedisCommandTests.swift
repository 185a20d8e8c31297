import Testing
import Wire

@testable import Redis

@Suite("Redis commands")
struct RedisCommandTests {
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
}
