import Admission
import EventLoop
import GatewayLogging
import GatewayMetrics
import Settings
import Wire

/// Measures what the process uses, once a second, and has new publishes refused while it is too much. On the control loop.
final class LoadGuard {
    /// What operators and other nodes see.
    struct Report {
        /// What was measured last.
        var last: NodeLoad
        /// What is over its limit.
        var reason: LoadWatch.Measure?
        var settings: OverloadSettings

        /// How full the node is, for those who look for one with room: 1 where new publishes are refused.
        func pressure(at gate: AdmissionGate) -> Double {
            guard gate.takesPublishes else { return 1 }
            let share = settings.maximumPublishers > 0 ? Double(gate.livePublishes) / Double(settings.maximumPublishers) : 0
            return min(0.99, max(share, last.cpu / (Double(settings.cpu) / 100)))
        }
    }

    private let gate: AdmissionGate
    private let measure: () -> NodeLoad
    private let allowance: MemoryAllowance?
    /// Whether the allowance bounds memory, because the operator set no bound.
    private var isBoundByGroup = false
    private var watch: LoadWatch
    private var last = NodeLoad()
    private var timer: TimerWatch?

    /// - Parameters:
    ///   - allowance: of the control group: beyond it the kernel ends one of its processes, and all that live there. The two of a
    ///     handover have it together.
    ///   - measure: asked once a second; what it counts, it counts since the last time.
    init(
        loop: EventLoop, gate: AdmissionGate, metrics: MetricsRegistry, settings: OverloadSettings,
        allowance: MemoryAllowance? = MemoryAllowance.granted, measure: @escaping () -> NodeLoad
    ) {
        (self.gate, self.allowance, self.measure) = (gate, allowance, measure)
        watch = LoadWatch(settings)
        for closure in AdmissionGate.Closure.allCases {
            metrics.reading(
                "stagedoor_admission_closed", "1 while new publishes are refused for that reason.", ["reason": "\(closure)"]
            ) { [gate] in gate.isClosed(because: closure) ? 1 : 0 }
        }
        timer = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [unowned self] in look() }
        apply(settings)
    }

    var report: Report { Report(last: last, reason: watch.reason, settings: watch.limits) }

    func apply(_ settings: OverloadSettings) {
        watch.limits = settings
        isBoundByGroup = settings.memory.bytes == 0
        if let allowance, isBoundByGroup { watch.limits.memory = ByteSize(bytes: allowance.limit / 10 * 9) }
        gate.maximumPublishes = settings.maximumPublishers > 0 ? settings.maximumPublishers : .max
    }

    /// Measures, and has new publishes refused or taken again.
    func look() {
        let wasOverloaded = watch.isOverloaded
        var load = measure()
        if isBoundByGroup, let inUse = allowance?.inUse { load.memory = inUse }
        last = load
        watch.look(at: load)
        guard watch.isOverloaded != wasOverloaded else { return }
        gate.setClosed(watch.isOverloaded, because: .overloaded)
        guard let reason = watch.reason else { return Log.event(.info, "overload_ended") }
        Log.event(
            .warning, "overloaded",
            [
                "by": .string(reason.rawValue), "cpu": .number(load.cpu), "loop_lag_ms": .integer(Int(load.loopLag.milliseconds)),
                "descriptors": .number(load.descriptors), "memory": .integer(load.memory),
            ])
    }
}
