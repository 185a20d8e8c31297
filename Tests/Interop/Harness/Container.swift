import Foundation
import Testing

/// A container of the image that `make image` builds, run as docs/operations.md says. It goes with its object, its volumes too.
final class Container {
    let name = "stagedoor-test-\(UUID().uuidString.prefix(8).lowercased())"
    private let image: String

    /// A root that cannot be written to, no rights, and no way to gain any.
    static let advised = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]

    /// - Parameters:
    ///   - options: more words for the engine.
    ///   - settings: variables of the gateway, by the names of `STAGEDOOR_…`.
    ///   - command: in place of the image's own.
    init(_ options: [String] = [], settings: [String: String] = [:], image: String = "stagedoor", command: [String] = []) throws {
        self.image = image
        let variables = settings.flatMap { ["--env", "STAGEDOOR_\($0.key)=\($0.value)"] }
        try Self.engine(
            ["run", "--detach", "--name", name] + Self.advised + variables + options + [image] + command, within: .seconds(60))
    }

    deinit {
        kill()
        _ = try? Self.engine(["rm", "--force", "--volumes", name], within: .seconds(60))
    }

    /// A gateway with a stage, a key and a token, whose admin listener and metrics may be asked from outside.
    static func quickstart(_ options: [String] = [], settings: [String: String] = [:]) throws -> Container {
        let open = ["ADMIN_LISTEN": "[::]:8088", "ADMIN_AUTH": "sigv4", "METRICS_TOKEN": metricsToken]
        return try Container(
            ["--publish", "127.0.0.1::8088"] + options, settings: open.merging(settings) { $1 },
            command: ["serve", "--quickstart", "--config", "/etc/stagedoor/stagedoor.yaml", "--data", "/var/lib/stagedoor"])
    }

    /// Its own address on the engine's bridge, which this machine reaches.
    var address: String { get throws { try inspect("{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}") } }
    /// The admin listener at a port of this machine's loopback: it takes no other names (`admin.hosts`).
    var admin: String {
        get throws {
            let place = try Self.engine(["port", name, "8088/tcp"], within: .seconds(60))
            return "http://\(place.trimmingCharacters(in: .whitespacesAndNewlines))"
        }
    }
    /// The number of its first process on this machine.
    var pid: pid_t { get throws { try #require(pid_t(try inspect("{{.State.Pid}}"))) } }
    var isRunning: Bool { (try? inspect("{{.State.Running}}")) == "true" }
    var log: String { (try? Self.engine(["logs", name], within: .seconds(60))) ?? "" }

    func inspect(_ format: String) throws -> String {
        try Self.engine(["inspect", "--format", format, name], within: .seconds(60))
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// What quickstart wrote, once every listener accepts.
    func readQuickstart() throws -> Quickstart {
        var written: String?
        expect("it starts\n\(log)", within: .seconds(60)) {
            written = try? execute(["cat", "/var/lib/stagedoor/quickstart.json"])
            return written != nil && log.contains(#""event":"started""#)
        }
        return try JSONDecoder().decode(Quickstart.self, from: Data(try #require(written).utf8))
    }

    func metrics() throws -> Metrics {
        Metrics(
            try ProgramRun.output(
                of: [
                    "curl", "-sSf", "--max-time", "50", "-H", "Authorization: Bearer \(Self.metricsToken)",
                    "\(try admin)/metrics",
                ], within: .seconds(60)))
    }

    /// A command in the container, as its user.
    @discardableResult
    func execute(_ words: [String]) throws -> String { try Self.engine(["exec", name] + words, within: .seconds(60)) }

    func start() throws { try Self.engine(["start", name], within: .seconds(60)) }

    /// Asks it to end as the engine does, which kills it when `grace` has passed; the time that it took.
    @discardableResult
    func stop(grace seconds: Int = 20) throws -> Duration {
        try ContinuousClock().measure {
            try Self.engine(["stop", "--time", "\(seconds)", name], within: .seconds(seconds + 20))
        }
    }

    func kill() { _ = try? Self.engine(["kill", name], within: .seconds(60)) }

    /// What the machine's engine says (docker/engine).
    @discardableResult
    static func engine(_ words: [String], within limit: Duration) throws -> String {
        try ProgramRun.output(of: [Workspace.package.appending(path: "docker/engine").path] + words, within: limit)
    }

    static let metricsToken = "a-token-for-the-metrics-of-these-tests"
}
