import CLibevent
import Glibc

/// What a descriptor is watched for.
public enum Readiness: Sendable { case read, write }

/// What is served first when several things are ready. Media never waits for handshakes and requests.
public enum EventPriority: CInt, Sendable {
    case media = 0
    case normal = 1

    static let count: CInt = 2
}

extension EventLoop {
    /// Calls `body` in every turn in which the descriptor is ready, until the watch is cancelled or dropped.
    ///
    /// The descriptor must stay open for as long as it is watched: cancel first, then close.
    public func watch(
        descriptor: CInt, for readiness: Readiness, priority: EventPriority = .normal, _ body: @escaping () -> Void
    ) -> DescriptorWatch {
        assertOnLoop()
        return DescriptorWatch(loop: self, descriptor: descriptor, readiness: readiness, priority: priority, body)
    }

    /// Calls `body` when the process receives the signal. One loop of a process may watch signals: libevent allows no more.
    public func watchSignal(_ number: CInt, _ body: @escaping () -> Void) -> Watch {
        assertOnLoop()
        return SignalWatch(loop: self, number: number, body)
    }
}
