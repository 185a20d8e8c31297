import ArgumentParser
import Node

/// The gateway: `serve` runs it, the other words look at it.
@main
struct StagedoorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stagedoor",
        abstract: "A WHIP, RTMP and RTMPS ingest gateway for stages.",
        version: "stagedoor \(Version.current)",
        subcommands: [Serve.self, Check.self, Doctor.self, Errors.self, Token.self, Migrate.self])
}
