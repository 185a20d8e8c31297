import CShim
import EventLoop
import Foundation

/// The program that is now where ours was started from, started to take our place (SIGUSR2). On the control loop.
final class SuccessorProcess {
    private let arguments: [String]
    /// Those that were started and have not ended.
    private var numbers: Set<pid_t> = []
    private var children: Watch?

    /// - Parameter arguments: what a successor is started with.
    init(loop: EventLoop, arguments: [String] = SuccessorProcess.ownArguments) {
        self.arguments = arguments
        children = loop.watchSignal(SIGCHLD) { [unowned self] in reap() }
    }

    static var ownArguments: [String] {
        CommandLine.arguments.contains("--take-over") ? CommandLine.arguments : CommandLine.arguments + ["--take-over"]
    }

    /// - Returns: its process id.
    func start() throws(StartupError) -> pid_t {
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        let words = unsafe (arguments.map { unsafe strdup($0) } + [nil], environment.map { unsafe strdup($0) } + [nil])
        defer { unsafe (words.0 + words.1).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let fault = unsafe shim_spawn(&process, words.0, words.1)
        guard fault == 0 else {
            let reason = unsafe String(cString: strerror(fault))
            throw .successor(reason)
        }
        numbers.insert(process)
        return process
    }

    /// Lets the kernel forget successors that ended; one signal may tell of several.
    private func reap() {
        numbers = numbers.filter { number in
            var status: CInt = 0
            return unsafe waitpid(number, &status, WNOHANG) == 0
        }
    }
}
