import Admission
import EventLoop
import Foundation
import GatewayMetrics
import Refusals
import Settings
import TestSupport
import Testing

@testable import Node

@Suite
struct LoadGuardTests {
    private struct Anybody: Authorizer {
        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {}
    }

    /// A guard whose measure the test says.
    private final class Bench {
        let gate = AdmissionGate(before: Anybody())
        let metrics = MetricsRegistry()
        let guarded: LoadGuard

        init(_ settings: OverloadSettings = OverloadSettings(), allowance: MemoryAllowance? = nil) throws {
            let box = Box()
            guarded = LoadGuard(
                loop: try EventLoop(), gate: gate, metrics: metrics, settings: settings, allowance: allowance,
                measure: { box.load })
            self.box = box
        }

        private let box: Box
        private final class Box { var load = NodeLoad() }

        /// What the alert is about that the door is shut.
        func isShown(_ closure: AdmissionGate.Closure) -> Bool {
            let text = String(decoding: metrics.exposition(), as: UTF8.self)
            return text.contains("stagedoor_admission_closed{reason=\"\(closure)\"} 1\n")
        }

        func look(_ load: NodeLoad, times: Int) {
            box.load = load
            for _ in 0..<times { guarded.look() }
        }
    }

    @Test
    func `the door shuts when a measure stays over its limit, and says which`() throws {
        let bench = try Bench()
        bench.look(NodeLoad(cpu: 2), times: 2)
        #expect(bench.gate.takesPublishes, "two looks may be a storm of handshakes")
        bench.look(NodeLoad(cpu: 2), times: 1)
        #expect(bench.gate.closure == .overloaded)
        #expect(bench.guarded.report.reason == .cpu)
        #expect(bench.guarded.report.last.cpu == 2)
        #expect(bench.isShown(.overloaded) && !bench.isShown(.draining) && !bench.isShown(.noRouter))
    }

    @Test
    func `it opens again when everything has been well below for a while`() throws {
        let bench = try Bench()
        bench.look(NodeLoad(descriptors: 1), times: 3)
        #expect(bench.guarded.report.reason == .descriptors)
        bench.look(NodeLoad(), times: 4)
        #expect(bench.gate.closure == .overloaded)
        bench.look(NodeLoad(), times: 1)
        #expect(bench.gate.closure == nil && !bench.isShown(.overloaded))
        #expect(bench.guarded.report.reason == nil)
    }

    @Test
    func `where the operator set no bound the control group's memory is one, for what all of its processes have`() throws {
        let folder = try TemporaryDirectory()
        func write(_ text: String, to name: String) throws {
            try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
        }
        try write("1000\n", to: "memory.max")
        try write("1000\n", to: "memory.current")
        try write("anon 700\nsock 200\nactive_file 60\ninactive_file 30\nslab_reclaimable 10\n", to: "memory.stat")
        let bench = try Bench(allowance: MemoryAllowance(folder: folder.path))
        bench.look(NodeLoad(memory: 10), times: 3)
        #expect(bench.gate.takesPublishes, "900 bytes are in use, as many as may be")
        try write("1001\n", to: "memory.current")
        bench.look(NodeLoad(memory: 10), times: 3)
        #expect(bench.guarded.report.reason == .memory)
        #expect(bench.guarded.report.last.memory == 901)
        var settings = OverloadSettings()
        settings.memory = ByteSize(bytes: 5_000)
        bench.guarded.apply(settings)
        bench.look(NodeLoad(memory: 10), times: 5)
        #expect(bench.gate.takesPublishes)
        #expect(bench.guarded.report.last.memory == 10, "of this process, as the operator's bound is")
    }

    @Test
    func `another reason keeps the door shut when the load has gone`() throws {
        let bench = try Bench()
        bench.look(NodeLoad(cpu: 2), times: 3)
        bench.gate.setClosed(true, because: .noRouter)
        bench.look(NodeLoad(), times: 5)
        #expect(bench.gate.closure == .noRouter)
    }

    @Test
    func `new limits are in force at the next look, and bound the number of publishes at once`() throws {
        let bench = try Bench()
        var settings = OverloadSettings()
        (settings.cpu, settings.maximumPublishers) = (20, 1)
        bench.guarded.apply(settings)
        bench.gate.publishBegan()
        #expect(!bench.gate.takesPublishes, "full")
        #expect(bench.gate.closure == nil, "which is no closure")
        #expect(bench.isShown(.overloaded) && !bench.isShown(.noRouter), "and is told as one")
        bench.gate.setClosed(true, because: .noRouter)
        #expect(bench.isShown(.overloaded) && bench.isShown(.noRouter), "whichever router is away")
        bench.gate.setClosed(false, because: .noRouter)
        bench.gate.setClosed(true, because: .draining)
        #expect(bench.isShown(.draining) && !bench.isShown(.overloaded))
        bench.gate.setClosed(false, because: .draining)
        settings.maximumPublishers = 0
        bench.guarded.apply(settings)
        #expect(bench.gate.takesPublishes, "0 is no bound")
        bench.look(NodeLoad(cpu: 0.3), times: 3)
        #expect(bench.gate.closure == .overloaded)
    }

    @Test
    func `who looks for a node with room sees the greater of streams and CPU, and 1 where nobody is let in`() throws {
        var settings = OverloadSettings()
        (settings.cpu, settings.maximumPublishers) = (50, 4)
        let bench = try Bench(settings)
        #expect(bench.guarded.report.pressure(at: bench.gate) == 0)
        bench.gate.publishBegan()
        #expect(bench.guarded.report.pressure(at: bench.gate) == 0.25)
        bench.look(NodeLoad(cpu: 0.2), times: 1)
        #expect(bench.guarded.report.pressure(at: bench.gate) == 0.4)
        bench.look(NodeLoad(cpu: 0.9), times: 1)
        #expect(bench.guarded.report.pressure(at: bench.gate) == 0.99, "it still takes publishes")
        bench.gate.setClosed(true, because: .draining)
        #expect(bench.guarded.report.pressure(at: bench.gate) == 1)
    }
}
