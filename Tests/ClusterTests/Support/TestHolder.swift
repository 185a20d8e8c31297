import Admission
import EventLoop
import Wire

/// A live session as leases see it: it gives its lease back when it is told to end.
final class TestHolder: LeaseHolder {
    private struct State {
        var progress: MonotonicTime
        var ends: [LeaseEnd] = []
        var lease: PublishLease?
        var isOver = false
    }

    private let state: Lock<State>
    private let leases: any PublishLeases

    init(_ leases: any PublishLeases) {
        self.leases = leases
        state = Lock(State(progress: EventLoop.monotonicNow()))
    }

    var lastProgress: MonotonicTime { state.withLock { $0.progress } }
    var hasEnded: Bool { state.withLock { $0.isOver } }
    var ends: [LeaseEnd] { state.withLock { $0.ends } }
    var lease: PublishLease? { state.withLock { $0.lease } }

    func progressed() { state.withLock { $0.progress = EventLoop.monotonicNow() } }
    func granted(_ lease: PublishLease) { state.withLock { $0.lease = lease } }

    func end(_ reason: LeaseEnd) {
        let lease = state.withLock { state in
            state.ends.append(reason)
            let lease = state.isOver ? nil : state.lease
            state.isOver = true
            return lease
        }
        if let lease { leases.release(lease) }
    }
}
