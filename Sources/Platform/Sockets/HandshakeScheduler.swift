public import EventLoop
public import Wire

/// Whose handshake goes first when there are too many.
public enum HandshakePriority: Int, CaseIterable, Sendable {
    /// DTLS on a tuple whose ICE check was authenticated: a publisher.
    case authenticated
    /// TLS whose client has used our answer, which one that only repeats a ClientHello cannot.
    case begun
    /// The first flight of TLS, which anybody may send.
    case anonymous
}

/// The handshakes of one loop: each step runs at once while the budget lasts, else in its turn. Of equal priority networks take
/// turns, and of one network the oldest goes first.
///
/// The one object of its loop: `HandshakeScheduler.of(loop)`.
public final class HandshakeScheduler {
    /// Steps that may wait of each priority; further ones are refused. A crowd of strangers takes no place of a publisher's.
    public static let maximumWaiting = 4_096

    /// Asked when a peer begins a TLS handshake. Set before strangers are served; without them nobody is limited.
    public var limits: HandshakeLimits?
    /// Since the loop began.
    public private(set) var counters = HandshakeCounters()
    /// Called after every step: how long it waited, and the CPU time it took.
    public var onStep: (_ waited: Duration, _ cost: Duration) -> Void = { _, _ in }

    private struct Step {
        var run: () -> Void
        var since: MonotonicTime
    }

    /// Keeps this object.
    private unowned let loop: EventLoop
    private var budget = HandshakeBudget()
    private var waiting = HandshakePriority.allCases.map { _ in FairQueue<Step>() }
    private var timer: TimerWatch?

    init(loop: EventLoop) { self.loop = loop }

    /// The loop's scheduler, made at the first call.
    public static func of(_ loop: EventLoop) -> HandshakeScheduler { loop.resource { HandshakeScheduler(loop: loop) } }

    /// Runs one step of a handshake, now or when it is its turn. The step must know by itself when its session is gone.
    /// - Parameter source: the peer, among whose network's steps this one waits.
    /// - Returns: false when too many of its priority wait; the step will not run.
    @discardableResult
    public func perform(_ priority: HandshakePriority, from source: IPAddress, _ step: @escaping () -> Void) -> Bool {
        let now = EventLoop.monotonicNow()
        let isCrowded = waiting[...priority.rawValue].contains { !$0.isEmpty }
        if !isCrowded, budget.isOpen(at: now) {
            run(Step(run: step, since: now))
            return true
        }
        guard waiting[priority.rawValue].count < Self.maximumWaiting else {
            counters.refused += 1
            return false
        }
        counters.delayed += 1
        waiting[priority.rawValue].append(Step(run: step, since: now), from: source)
        arm()
        return true
    }

    private func run(_ step: Step) {
        let waited = EventLoop.monotonicNow() - step.since
        let start = EventLoop.threadCPU()
        step.run()
        let cost = EventLoop.threadCPU() - start
        counters.steps += 1
        counters.cpu += cost
        budget.spend(cost, at: EventLoop.monotonicNow())
        onStep(waited, cost)
    }

    private func runWaiting() {
        timer = nil
        while budget.isOpen(at: EventLoop.monotonicNow()), let step = popFirst() { run(step) }
        if waiting.contains(where: { !$0.isEmpty }) { arm() }
    }

    private func popFirst() -> Step? {
        guard let next = waiting.firstIndex(where: { !$0.isEmpty }) else { return nil }
        return waiting[next].popFirst()
    }

    private func arm() {
        guard timer == nil else { return }
        let now = EventLoop.monotonicNow()
        timer = loop.schedule(after: budget.opening(after: now) - now) { [unowned self] in runWaiting() }
    }
}

/// What handshakes cost on one loop.
public struct HandshakeCounters: Equatable, Sendable {
    /// Steps that have run.
    public var steps = 0
    /// The CPU time that they took.
    public var cpu = Duration.zero
    /// Steps that had to wait for the budget.
    public var delayed = 0
    /// Steps turned away because too many waited.
    public var refused = 0
}

/// How much of a loop's time handshakes may take: 4 ms in any 20 ms. Sans-IO.
///
/// Any stranger can ask for a handshake's CPU; media on the same loop must not wait for a crowd of them (docs/design.md 4.5).
struct HandshakeBudget: Sendable {
    static let window = Duration.milliseconds(20)
    static let share = Duration.milliseconds(4)
    /// A step begins only when this much is left: what the dearer step of DTLS took, where 4.5 says. A step that takes longer
    /// overdraws, and later ones wait for it.
    static let typicalCost = Duration.microseconds(500)

    private var spendings: [(moment: MonotonicTime, cost: Duration)] = []
    private var spent = Duration.zero

    init() {}

    /// Whether a step may begin now.
    mutating func isOpen(at now: MonotonicTime) -> Bool {
        forget(before: now - Self.window)
        return spent + Self.typicalCost <= Self.share
    }

    /// Notes the CPU time of a step that has ended now.
    mutating func spend(_ cost: Duration, at now: MonotonicTime) {
        spendings.append((now, cost))
        spent += cost
    }

    /// When the next step may begin.
    func opening(after now: MonotonicTime) -> MonotonicTime {
        var left = spent
        for (moment, cost) in spendings {
            if left + Self.typicalCost <= Self.share { return now }
            left -= cost
            if left + Self.typicalCost <= Self.share { return max(now, moment + Self.window) }
        }
        return now
    }

    private mutating func forget(before moment: MonotonicTime) {
        var old = 0
        while old < spendings.count, spendings[old].moment <= moment {
            spent -= spendings[old].cost
            old += 1
        }
        spendings.removeFirst(old)
    }
}

/// What waits, taken out in turns by the network it is for: a crowd from one address stands in its own way only. Within a network
/// the oldest goes first. Sans-IO.
struct FairQueue<Element> {
    private var waiting: [IPAddress: ArraySlice<Element>] = [:]
    /// Networks with something waiting, the next one first.
    private var turns: ArraySlice<IPAddress> = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element, from source: IPAddress) {
        let network = source.network
        if waiting[network] == nil { turns.append(network) }
        waiting[network, default: []].append(element)
        count += 1
    }

    /// The oldest of the network whose turn it is; then the other networks come first.
    mutating func popFirst() -> Element? {
        guard let network = turns.popFirst(), let element = waiting[network]?.popFirst() else { return nil }
        count -= 1
        if waiting[network]?.isEmpty == true { waiting[network] = nil } else { turns.append(network) }
        return element
    }
}
