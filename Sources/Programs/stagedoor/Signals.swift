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
}
