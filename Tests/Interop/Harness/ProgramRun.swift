import Foundation
import Synchronization

/// A program of the outside world, started by a test and never left behind: it ends with its object.
final class ProgramRun {
    /// Standard output and standard error together, as written so far.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
    var isRunning: Bool { process.isRunning }
    var pid: pid_t { process.processIdentifier }

    private let process = Process()
    private let log: URL
    private let name: String

    /// Starts `arguments`, the program first, looked for on the PATH.
    init(_ arguments: [String], environment: [String: String] = [:], log: URL? = nil) throws {
        name = arguments[0]
        self.log = log ?? Workspace.temporaryFile(suffix: ".log")
        _ = FileManager.default.createFile(atPath: self.log.path, contents: nil)
        let handle = try FileHandle(forWritingTo: self.log)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        try handle.close()
    }

    deinit { kill() }

    /// The exit status; nil when it has not ended in time. 128 + n stands for an end by signal n.
    func status(within limit: Duration) -> Int32? {
        guard holds(within: limit, { !process.isRunning }) else { return nil }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    func send(_ signal: Int32) { if process.isRunning { Foundation.kill(process.processIdentifier, signal) } }

    /// Asks it to end, as Ctrl-C does, and waits.
    @discardableResult
    func interrupt(within limit: Duration = .seconds(10)) -> Int32? {
        send(SIGINT)
        return status(within: limit)
    }

    func kill() {
        send(SIGKILL)
        _ = holds(within: .seconds(5)) { !process.isRunning }
    }

    /// Runs to the end and answers what it wrote.
    static func output(of arguments: [String], within limit: Duration) throws -> String {
        let run = try ProgramRun(arguments)
        guard let status = run.status(within: limit) else { throw Fault.late(arguments, run.output) }
        guard status == 0 else { throw Fault.failed(arguments, status, run.output) }
        return run.output
    }

    enum Fault: Error {
        case late([String], String)
        case failed([String], Int32, String)
    }
}
