import CShim
import EventLoop
import Foundation
import GatewayLogging

/// The program that is now where ours was started from, started to take our place (SIGUSR2). On the control loop.
final class SuccessorProcess {
    private let arguments: [String]
    /// Those that were started and have not ended.
    private var numbers: Set<pid_t> = []
    private var children: Watch?
    private let failed: (pid_t, Failure) -> Void

    /// How a successor ended that did not end well.
    enum Failure: Equatable {
        case status(CInt), signal(CInt)

        /// Nil for a process that ended well, by what waitpid(2) tells of it.
        init?(_ told: CInt) {
            guard told != 0 else { return nil }
            self = told & 0x7F == 0 ? .status(told >> 8 & 0xFF) : .signal(told & 0x7F)
        }
    }

    /// - Parameters:
    ///   - arguments: what a successor is started with.
    ///   - failed: told of one that did not end well, and may have written no log.
    init(
        loop: EventLoop, arguments: [String] = SuccessorProcess.ownArguments,
        failed: @escaping (pid_t, Failure) -> Void = { SuccessorProcess.log($0, $1) }
    ) {
        (self.arguments, self.failed) = (arguments, failed)
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
            let ended = unsafe waitpid(number, &status, WNOHANG)
            if ended == number, let failure = Failure(status) { failed(number, failure) }
            return ended == 0
        }
    }

    static func log(_ process: pid_t, _ failure: Failure) {
        let number = LogValue.integer(Int(process))
        switch failure {
        case .status(let status): Log.event(.error, "successor_ended", ["process": number, "status": .integer(Int(status))])
        case .signal(let signal): Log.event(.error, "successor_ended", ["process": number, "signal": .integer(Int(signal))])
        }
    }
}
