import Foundation
import Testing

extension Interop {
    /// What the program answers to who types its words, and mistypes them.
    @Suite struct CommandLineWords {
        /// Words, exit status (64: they are wrong, 1: what they name is), and what is said.
        private static let mistakes: [(words: [String], status: Int32, said: String)] = [
            (["serv"], 64, "Unexpected argument 'serv'"), (["check", "--confg", "a"], 64, "Unknown option '--confg'"),
            (["check", "extra"], 64, "Unexpected argument 'extra'"), (["doctor", "--config"], 64, "Missing value for '--config"),
            (["check", "--config", "/nothing.yaml"], 1, "Error: /nothing.yaml: No such file or directory"),
            (["doctor", "--config", "/nothing.yaml"], 1, "Error: /nothing.yaml: No such file or directory"),
            (["doctor", "--repair-indexes"], 1, "FAIL  --repair-indexes: no cluster.redis is configured"),
            (["migrate", "--config", "a", "--from", "files", "--to", "files"], 64, "--from and --to are the same"),
            (["token", "inspect"], 1, "three parts"),
            (["token", "inspect", "--key", "/nothing.pem"], 1, "Error: /nothing.pem: No such file or directory"),
            (mint(key: "/nothing.pem"), 1, "Error: /nothing.pem: No such file or directory"),
            (mint(key: "/etc/passwd"), 64, "--key: /etc/passwd is no private key of EC P-384 in PEM"),
            (mint(key: "/etc/passwd", "--participant", "-x"), 64, "Missing value for '--participant"),
            (mint(key: "/etc/passwd", "--minutes", "0"), 64, "--minutes goes from 1 to 20160"),
        ]

        private static let stageARN = "arn:aws:ivs:us-east-1:000000000000:stage/abcdABCD1234"

        private static func mint(key: String, stage: String = stageARN, _ more: String...) -> [String] {
            let arn = "arn:aws:ivs:us-east-1:000000000000:public-key/a1"
            return [
                "token", "mint", "--key", key, "--key-id", arn, "--stage", stage, "--events-url", "wss://e", "--whip-url", "w",
            ]
                + more
        }

        @Test(.timeLimit(.minutes(10)), arguments: mistakes.indices)
        func `words that are wrong are refused, and said to be`(_ row: Int) throws {
            let (words, status, said) = Self.mistakes[row]
            let run = try ProgramRun([try Workspace.program("stagedoor")] + words)
            #expect(run.status(within: .seconds(60)) == status)
            #expect(run.output.contains(said), "\(run.output)")
        }

        private static let words = [
            [], ["serve"], ["check"], ["doctor"], ["errors"], ["migrate"], ["token"], ["token", "mint"], ["token", "inspect"],
        ]

        @Test(.timeLimit(.minutes(10)), arguments: words)
        func `every word has a help`(_ words: [String]) throws {
            let line = [try Workspace.program("stagedoor")] + words + ["--help"]
            let help = try ProgramRun.output(of: line, within: .seconds(60))
            #expect(help.contains("USAGE: stagedoor") && help.contains("--version"), "\(help)")
        }

        @Test(.timeLimit(.minutes(10)))
        func `no token is minted that every gateway refuses`() throws {
            let key = Workspace.temporaryFile(suffix: ".pem").path
            _ = try ProgramRun.output(
                of: ["openssl", "ecparam", "-name", "secp384r1", "-genkey", "-noout", "-out", key], within: .seconds(60))
            let program = try Workspace.program("stagedoor")
            let token = try ProgramRun.output(of: [program] + Self.mint(key: key, "--user=-a"), within: .seconds(60))
            #expect(token.split(separator: ".").count == 3)
            let hopeless = [
                (Self.mint(key: key, stage: "abcdABCD1234"), "wrong claim topic"),
                (Self.mint(key: key, "--attribute", "a=" + String(repeating: "b", count: 1_024)), "wrong claim attributes"),
            ]
            for (words, said) in hopeless {
                let run = try ProgramRun([program] + words)
                #expect(run.status(within: .seconds(60)) == 64)
                #expect(run.output.contains(said), "\(run.output)")
            }
        }
    }
}
