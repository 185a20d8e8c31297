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
    }

    /// Lets SIGTERM and SIGINT end the process while it still starts; `init(to:)` replaces this. To the first process of a container
    /// the kernel delivers no signal that it has no handler for: its engine would wait out the grace, and then kill a node that serves.
    static func endWhileStarting() {
        guard getpid() == 1 else { return }
        for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } }
    }
}
