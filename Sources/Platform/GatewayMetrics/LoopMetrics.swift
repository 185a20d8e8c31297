public import EventLoop
import Synchronization
import Wire

/// How late and how busy an event loop is.
public enum LoopMetrics {
    /// How often a loop reports on itself.
    static let interval = Duration.seconds(1)

    /// Reports on the loop as long as the watch is kept. Call it on the loop's thread; nobody else may take its statistics then.
    /// - Parameters:
    ///   - name: of a fixed set: `control`, `worker 0`, …
    ///   - greatest: gets the lateness too, for admission.
    public static func watch(_ loop: EventLoop, name: String, in registry: MetricsRegistry, lag greatest: GreatestLag? = nil)
        -> Watch
    {
        let labels: MetricLabels = ["loop": name]
        let lag = registry.histogram(
            "stagedoor_event_loop_lag_seconds", "The greatest lateness of timers in each second.", bounds: Histogram.loopSeconds,
            labels)
        let busy = gauge(
            "stagedoor_event_loop_busy_seconds_total", "Time between waking up and waiting again.", labels, in: registry)
        let longest = gauge(
            "stagedoor_event_loop_longest_turn_cpu_seconds", "CPU time of the longest turn of the last second.", labels,
            in: registry)
        let turnCPU = registry.histogram(
            "stagedoor_event_loop_turn_cpu_seconds", "CPU time of each turn: what waits, waits that long.",
            bounds: Histogram.turnSeconds, labels)
        let turns = registry.counter("stagedoor_event_loop_turns_total", "Times the loop woke up.", labels)
        loop.measuresTurnCPU = true
        loop.onTurnMeasured = { turnCPU.observe($0) }
        return loop.schedule(after: interval, repeating: interval, tolerance: interval) { [unowned loop] in
            let statistics = loop.takeStatistics()
            lag.observe(statistics.longestLag)
            greatest?.note(statistics.longestLag)
            busy.add(statistics.busy.inSeconds)
            turns.increment(by: statistics.turns)
            longest.set(statistics.longestTurnCPU.inSeconds)
        }
    }

    private static func gauge(
        _ name: String, _ help: String, _ labels: MetricLabels, in registry: MetricsRegistry
    ) -> Gauge {
        let gauge = Gauge()
        registry.reading(name, help, labels) { gauge.value }
        return gauge
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
