import CShim
import EventLoop

/// Gives memory that nothing uses any more back to the system, once a minute. On the control loop.
///
/// What grew in a rush, or while the processor was another's and queues filled, is freed between things that stay: the allocator
/// would keep it, the process look as large as it ever was, and a limit of resident memory keep refusing publishes for good.
/// Takes some milliseconds; another thread that allocates waits for its own part of that.
final class FreedMemory {
    private let timer: TimerWatch

    init(loop: EventLoop) {
        timer = loop.schedule(after: Self.interval, repeating: Self.interval, tolerance: .seconds(1)) { Self.giveBack() }
    }

    static func giveBack() { shim_give_back_free_memory() }

    static let interval = Duration.seconds(60)
}
