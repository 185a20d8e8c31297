import Admission
import EventLoop
import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
import Wire

/// Measures what the process uses, once a second, and keeps the door shut while it is too much. On the control loop.
final class LoadGuard {
    private let loop: EventLoop
    private let gate: AdmissionGate
    private let lag: GreatestLag
    private var watch: LoadWatch
    /// What was measured last.
    private(set) var last = NodeLoad()
    private(set) var settings: OverloadSettings
    private var timer: TimerWatch?
    private var lastCPU = ProcessMetrics.cpuSeconds
    private var lastLook: MonotonicTime
    /// Asked once: it takes reading four files.
    private let processorCount = Double(CPUAllowance.granted)

    init(loop: EventLoop, services: NodeServices, settings: OverloadSettings) {
        (self.loop, gate, lag, self.settings) = (loop, services.gate, services.lag, settings)
        (watch, lastLook) = (LoadWatch(LoadWatch.Limits(settings)), loop.now)
        for closure in AdmissionGate.Closure.allCases {
            services.metrics.reading(
                "stagedoor_admission_closed", "1 while new publishes are refused for that reason.", ["reason": "\(closure)"]
            ) { [gate] in gate.closure == closure ? 1 : 0 }
        }
        timer = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [unowned self] in look() }
        apply(settings)
    }

    /// What is over its limit.
    var reason: LoadWatch.Measure? { watch.reason }

    func apply(_ settings: OverloadSettings) {
        self.settings = settings
        watch.limits = LoadWatch.Limits(settings)
        gate.limitPublishes(to: settings.maximumPublishers > 0 ? settings.maximumPublishers : .max)
    }

    private func look() {
        let wasOverloaded = watch.isOverloaded
        let load = measure()
        last = load
        watch.look(at: load)
        guard watch.isOverloaded != wasOverloaded else { return }
        gate.set(.overloaded, watch.isOverloaded)
        guard let reason = watch.reason else { return Log.event(.info, "overload_ended") }
        Log.event(
            .warning, "overloaded",
            [
                "by": .string(reason.rawValue), "cpu": .number(load.cpu), "loop_lag_ms": .integer(Int(load.loopLag.milliseconds)),
                "descriptors": .number(load.descriptors), "memory": .integer(load.memory),
            ])
    }

    private func measure() -> NodeLoad {
        let (cpu, now) = (ProcessMetrics.cpuSeconds, loop.now)
        let elapsed = max((now - lastLook).inSeconds, 0.001)
        defer { (lastCPU, lastLook) = (cpu, now) }
        return NodeLoad(
            cpu: (cpu - lastCPU) / elapsed / processorCount, loopLag: lag.take(),
            descriptors: Double(ProcessMetrics.openDescriptorCount) / Double(max(1, ProcessMetrics.maximumDescriptorCount)),
            memory: ProcessMetrics.residentBytes)
    }
}

extension LoadWatch.Limits {
    init(_ settings: OverloadSettings) {
        self.init(
            cpu: Double(settings.cpu) / 100, loopLag: settings.loopLag, descriptors: Double(settings.descriptors) / 100,
            memory: settings.memory.bytes > 0 ? settings.memory.bytes : nil)
    }
}
