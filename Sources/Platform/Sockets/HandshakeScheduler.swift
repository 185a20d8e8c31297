public import EventLoop
import Wire

/// Whose handshake goes first when there are too many.
public enum HandshakePriority: Int, Sendable {
    /// DTLS on a tuple whose ICE check was authenticated: a publisher.
    case authenticated = 0
    /// TLS, which anybody may begin.
    case anonymous = 1
}

/// The handshakes of one loop: each step runs at once while the budget lasts, else in its turn, the oldest first.
///
/// The one object of its loop: `HandshakeScheduler.of(loop)`.
public final class HandshakeScheduler {
    /// Steps that may wait; further ones are refused.
    public static let maximumWaiting = 4_096

    public var limits = HandshakeLimits()
    public private(set) var counters = HandshakeCounters()

    private let loop: EventLoop
    private var budget = HandshakeBudget()
    private var waiting: [[() -> Void]] = [[], []]
    private var timer: TimerWatch?

    init(loop: EventLoop) { self.loop = loop }

    public static func of(_ loop: EventLoop) -> HandshakeScheduler { loop.resource { HandshakeScheduler(loop: loop) } }

    /// Runs one step of a handshake, now or when it is its turn. The step must know by itself when its session is gone.
    /// - Returns: false when too many wait; the step will not run.
    @discardableResult
    public func perform(_ priority: HandshakePriority, _ step: @escaping () -> Void) -> Bool {
        if waiting.allSatisfy(\.isEmpty), budget.isOpen(at: EventLoop.monotonicNow()) {
            run(step)
            return true
        }
        guard waiting[0].count + waiting[1].count < Self.maximumWaiting else {
            counters.refused += 1
            return false
        }
        counters.delayed += 1
        waiting[priority.rawValue].append(step)
        arm()
        return true
    }

    private func run(_ step: () -> Void) {
        let start = EventLoop.threadCPU()
        step()
        let cost = EventLoop.threadCPU() - start
        counters.steps += 1
        counters.cpu += cost
        budget.spend(cost, at: EventLoop.monotonicNow())
    }

    private func runWaiting() {
        timer = nil
        while let next = waiting.firstIndex(where: { !$0.isEmpty }), budget.isOpen(at: EventLoop.monotonicNow()) {
            run(waiting[next].removeFirst())
        }
        if !waiting.allSatisfy(\.isEmpty) { arm() }
    }

    private func arm() {
        guard timer == nil else { return }
        let now = EventLoop.monotonicNow()
        timer = loop.schedule(after: budget.opening(after: now) - now) { [unowned self] in runWaiting() }
    }
}

/// What handshakes cost on one loop.
public struct HandshakeCounters: Equatable, Sendable {
    public var steps = 0
    public var cpu = Duration.zero
    /// Steps that had to wait for the budget.
    public var delayed = 0
    public var refused = 0
}
