import EventLoop
import GatewayMetrics
import Wire

/// Measures this process. On the control loop.
final class LoadMeter {
    private let loop: EventLoop
    private let lag: GreatestLag
    private var lastCPU = ProcessMetrics.cpuSeconds
    private var lastLook: MonotonicTime
    /// Asked once: it takes reading four files.
    private let processors = CPUAllowance.processors

    init(loop: EventLoop, lag: GreatestLag) { (self.loop, self.lag, lastLook) = (loop, lag, loop.now) }

    /// What was used since the last time.
    func measure() -> NodeLoad {
        let (cpu, now) = (ProcessMetrics.cpuSeconds, loop.now)
        let elapsed = max((now - lastLook).inSeconds, 0.001)
        defer { (lastCPU, lastLook) = (cpu, now) }
        return NodeLoad(
            cpu: (cpu - lastCPU) / elapsed / processors, loopLag: lag.take(),
            descriptors: Double(ProcessMetrics.openDescriptorCount) / Double(max(1, ProcessMetrics.maximumDescriptorCount)),
            memory: ProcessMetrics.residentBytes)
    }
}

/// What the process uses at one moment, in the measures that bound admission.
struct NodeLoad: Sendable, Equatable {
    /// Of the granted CPUs, since the last look: 1 is all of them.
    var cpu = 0.0
    /// The greatest lateness of any event loop since the last look.
    var loopLag = Duration.zero
    /// Of the descriptors that may be open.
    var descriptors = 0.0
    /// Resident bytes; those of the control group where that is the bound.
    var memory = 0
}
