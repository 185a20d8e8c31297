import EventLoop
import Foundation
import Node

/// What signals mean to a node, as long as this is kept: SIGTERM and SIGINT end it, SIGHUP has it read its files anew, SIGUSR2
/// has the program that is now on disk take its place.
struct Signals {
    private let watches: [Watch]

    init(to node: Node) {
        let loop = node.loop
        watches = [
            loop.watchSignal(SIGTERM) { node.terminate() }, loop.watchSignal(SIGINT) { node.terminate() },
            loop.watchSignal(SIGHUP) { node.reload(because: "SIGHUP") },
            loop.watchSignal(SIGUSR2) { node.startSuccessor() },
        ]
        Self.hold(SIG_UNBLOCK)
    }

    /// While the process starts SIGTERM and SIGINT end it, SIGHUP waits for `init(to:)`, and SIGUSR2 asks for what begins anyway.
    ///
    /// To the first process of a container the kernel delivers no signal that it has no handler for: its engine would wait out
    /// the grace, and then kill a node that serves.
    static func beginStart() {
        hold(SIG_BLOCK)
        signal(SIGUSR2, SIG_IGN)
        guard getpid() == 1 else { return }
        for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } }
    }

    /// SIGHUP, which would end a process that watches for none. Threads that begin meanwhile never hear of it.
    private static func hold(_ how: CInt) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGHUP)
        pthread_sigmask(how, &signals, nil)
    }
}
