public import EventLoop
import Synchronization
import Wire

/// How late and how busy an event loop is: told once a second while it turns. An idle loop is not woken for it.
///
/// Confined to the loop; it reports as long as it is kept, and nobody else may take the loop's statistics then.
public final class LoopMetrics {
    /// Less than a second: a loop that wakes once a second reports at each of its turns, also at one that
    /// comes some microseconds early.
    private static let shortestPeriod = Duration.milliseconds(900)

    private let loop: EventLoop
    private let lag: Histogram
    private let busy = Gauge()
    private let longestTurn = Gauge()
    private let turnCPU: Histogram
    private let turns: Counter
    private let greatestLag: GreatestLag?
    private var reportedAt: MonotonicTime
    /// Has the loop turn once more if what it did last would not be reported otherwise.
    private var lastTurn: TimerWatch?
    private var isLastTurnDue = false

    /// - Parameters:
    ///   - name: of a fixed set: `control`, `worker-0`, …
    ///   - lag: gets the lateness too, for admission.
    public init(_ loop: EventLoop, name: String, in registry: MetricsRegistry, lag greatestLag: GreatestLag? = nil) {
        let labels: MetricLabels = ["loop": name]
        (self.loop, self.greatestLag, reportedAt) = (loop, greatestLag, loop.now)
        lag = registry.histogram(
            "stagedoor_event_loop_lag_seconds", "The greatest lateness of timers in each second in which the loop turned.",
            bounds: Histogram.loopSeconds, labels)
        turnCPU = registry.histogram(
            "stagedoor_event_loop_turn_cpu_seconds", "CPU time of each turn: what waits, waits that long.",
            bounds: Histogram.turnSeconds, labels)
        turns = registry.counter("stagedoor_event_loop_turns_total", "Times the loop woke up.", labels)
        registry.reading(
            "stagedoor_event_loop_busy_seconds_total", "Time between waking up and waiting again.", labels
        ) { [busy] in busy.value }
        registry.reading(
            "stagedoor_event_loop_longest_turn_cpu_seconds",
            "CPU time of the longest turn of the last second in which the loop turned.", labels
        ) { [longestTurn] in longestTurn.value }
        lastTurn = loop.schedule(after: .seconds(1), tolerance: .seconds(1)) { [unowned self] in isLastTurnDue = false }
        isLastTurnDue = true
        loop.measureTurnCPU { [unowned self] in turned($0) }
    }

    deinit { loop.measureTurnCPU(nil) }

    private func turned(_ cpu: Duration) {
        turnCPU.observe(cpu)
        if loop.now - reportedAt >= Self.shortestPeriod {
            report()
        } else if !isLastTurnDue {
            isLastTurnDue = true
            lastTurn?.rearm(after: .seconds(1))
        }
    }

    private func report() {
        reportedAt = loop.now
        let statistics = loop.takeStatistics()
        lag.observe(statistics.longestLag)
        greatestLag?.note(statistics.longestLag)
        busy.add(statistics.busy.inSeconds)
        turns.increment(by: statistics.turns)
        longestTurn.set(statistics.longestTurnCPU.inSeconds)
    }
}

/// The greatest lateness noted since it was last taken. For any thread.
public final class GreatestLag: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    /// Nothing was late yet.
    public init() {}

    /// Keeps the lateness if it is the greatest so far.
    public func note(_ lag: Duration) { nanoseconds.max(lag.nanoseconds, ordering: .relaxed) }

    /// The greatest since the last call, which begins anew; zero when none was noted.
    public func take() -> Duration { .nanoseconds(nanoseconds.exchange(0, ordering: .relaxed)) }
}
