import Foundation
import Testing

/// Another process of the program, told to take a running one's place.
final class Successor {
    private let run: ProgramRun

    var pid: pid_t { run.pid }
    var log: String { run.output }

    /// - Parameter takesOver: false for a plain start, once the first process has ended.
    init(of gateway: Gateway, takesOver: Bool = true) throws {
        run = try ProgramRun(
            [
                try Workspace.program("stagedoor"), "serve", "--quickstart", "--config", gateway.settings.path, "--data",
                gateway.data.path,
            ] + (takesOver ? ["--take-over"] : []))
    }

    deinit { run.kill() }

    /// Whether it serves in time.
    func tookOver(within limit: Duration) -> Bool {
        holds(within: limit) { !run.isRunning || log.contains("\"took_over\"") } && run.isRunning
    }

    var isRunning: Bool { run.isRunning }

    func kill() { run.kill() }

    /// Whether SIGSTOP has reached every thread: until then one may still accept.
    var isStopped: Bool {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return !tasks.isEmpty
            && tasks.allSatisfy { task in
                let stat = (try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/stat", encoding: .utf8)) ?? ""
                return stat.split(separator: ")").last?.hasPrefix(" T") == true
            }
    }

    /// Ends it as an operator would.
    func stop(sourceLocation: SourceLocation = #_sourceLocation) {
        run.send(SIGTERM)
        #expect(run.status(within: .seconds(60)) == 0, "\(log.suffix(2_000))", sourceLocation: sourceLocation)
    }
}

extension Gateway {
    /// How often the log tells of an event.
    func count(of event: String) -> Int { log.components(separatedBy: "\"\(event)\"").count - 1 }

    /// How often strangers caused an event: ten lines a second are written, and how many more came stands in one line after them.
    func strangers(_ event: String) -> Int {
        let told = log.components(separatedBy: "\"event\":\"\(event)\"").count - 1
        let sums = log.components(separatedBy: "\"lines_left_out\",\"of\":\"\(event)\",\"count\":").dropFirst()
        return told + sums.reduce(0) { $0 + (Int($1.prefix { $0.isNumber }) ?? 0) }
    }

    /// Live publishes of both protocols.
    func live() throws -> Int {
        Int(try metrics().sum("stagedoor_sessions", "state=\"live\""))
    }

    /// The process id in the data directory's lock file.
    func lockHolder() throws -> String {
        try String(contentsOf: data.appending(path: "lock"), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A receiver at every port of the static router, which reports when it is interrupted.
    func receiver() throws -> ProgramRun {
        let receiver = try ProgramRun(
            ProgramRun.elsewhere([
                try Workspace.program("stagedoor-bench"), "receive", "--ports",
                "\(routerPorts.lowerBound)-\(routerPorts.upperBound)", "--seconds", "\(Encoder.untilStopped)",
            ]))
        expect("the receiver is ready", within: .seconds(60)) { receiver.output.contains("receiving") }
        return receiver
    }

    /// WHIP publishers, each with a token of its own.
    func whipPublishers(_ count: Int, clip: String, seconds: Int, extra: [String] = []) throws -> ProgramRun {
        try ProgramRun(
            [
                try Workspace.program("stagedoor-bench"), "whip", try #require(quickstart.whipURL),
                "--admin", try #require(quickstart.adminURL), "--access-key", try #require(quickstart.accessKeyId),
                "--secret", try #require(quickstart.secretAccessKey), "--flv", clip, "--streams", "\(count)",
                "--seconds", "\(seconds)",
            ] + extra)
    }
}

extension ProgramRun {
    /// The JSON that the program printed last, once it has ended well.
    func report<Report: Decodable>(_ type: Report.Type, within limit: Duration) throws -> Report {
        #expect(status(within: limit) == 0, "\(output.suffix(2_000))")
        return try JSONDecoder().decode(type, from: Data(lastLine.utf8))
    }
}
