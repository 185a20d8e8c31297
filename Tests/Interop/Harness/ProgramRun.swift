import Foundation

/// A program of the outside world, started by a test and never left behind: it ends with its object.
///
/// Foundation's `Process` would hand its thread's blocked signals on, and an encoder deaf to SIGINT never ends.
final class ProgramRun {
    /// Standard output and standard error together, as written so far.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
    let pid: pid_t

    private let log: URL
    private var ended: Int32?

    /// Starts `arguments`, the program first, looked for on the PATH.
    /// - Parameter input: a descriptor that becomes its standard input; without, that is empty.
    init(_ arguments: [String], readingFrom input: CInt? = nil) throws {
        log = Workspace.temporaryFile(suffix: ".log")
        pid = try Self.spawn(arguments, readingFrom: input, writingTo: log.path)
    }

    /// The line of a program that stands for another machine: what keeps this one busy must not make it late. Where that is not
    /// granted, as to others than root and in most containers, nothing is said of it: tests read ports at the output's beginning.
    static func elsewhere(_ line: [String]) -> [String] {
        ["sh", "-c", "renice -n -10 $$ >/dev/null 2>&1; exec \"$0\" \"$@\""] + line
    }

    deinit { kill() }

    var isRunning: Bool {
        guard ended == nil else { return false }
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return true }
        let signal = status & 0x7F
        ended = signal == 0 ? status >> 8 & 0xFF : 128 + signal
        return false
    }

    /// The exit status; nil when it has not ended in time. 128 + n stands for an end by signal n.
    func status(within limit: Duration) -> Int32? {
        _ = holds(within: limit) { !isRunning }
        return ended
    }

    func send(_ signal: Int32) { if isRunning { Foundation.kill(pid, signal) } }

    /// Asks it to end, as Ctrl-C does, and waits.
    @discardableResult
    func interrupt(within limit: Duration = .seconds(60)) -> Int32? {
        send(SIGINT)
        return status(within: limit)
    }

    func kill() {
        send(SIGKILL)
        _ = holds(within: .seconds(60)) { !isRunning }
    }

    /// Runs to the end and answers what it wrote.
    static func output(of arguments: [String], within limit: Duration) throws -> String {
        let run = try ProgramRun(arguments)
        guard let status = run.status(within: limit) else { throw Fault.late(arguments, run.output) }
        guard status == 0 else { throw Fault.failed(arguments, status, run.output) }
        return run.output
    }

    private static func spawn(_ arguments: [String], readingFrom input: CInt?, writingTo log: String) throws -> pid_t {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        if let input {
            posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO)
        // Whose end somebody waits for must not stay open in a program that was started meanwhile.
        for descriptor in (STDERR_FILENO + 1)..<min(getdtablesize(), 1_024) {
            posix_spawn_file_actions_addclose(&files, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // The tests' own variables are none of the program's, which refuses what it does not know.
        let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("STAGEDOOR_") }
        let words = (arguments.map { strdup($0) } + [nil], environment.map { strdup("\($0.key)=\($0.value)") } + [nil])
        defer { for word in words.0 + words.1 { free(word) } }
        var pid: pid_t = 0
        let fault = posix_spawnp(&pid, arguments[0], &files, &attributes, words.0, words.1)
        guard fault == 0 else { throw Fault.notStarted(arguments[0], String(cString: strerror(fault))) }
        return pid
    }

    enum Fault: Error {
        case notStarted(String, String)
        case late([String], String)
        case failed([String], Int32, String)
    }
}
