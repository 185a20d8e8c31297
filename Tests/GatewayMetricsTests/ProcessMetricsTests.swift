import EventLoop
import Glibc
import Testing

@testable import GatewayMetrics

@Suite("Process metrics")
struct ProcessMetricsTests {
    @Test func `the process tells about itself`() throws {
        let registry = MetricsRegistry()
        ProcessMetrics.register(in: registry, version: "1.2.3")
        let text = String(decoding: registry.exposition(), as: UTF8.self)
        #expect(text.contains(#"stagedoor_build_info{version="1.2.3"} 1"#))
        #expect(ProcessMetrics.residentBytes > 1_000_000)
        #expect((4...ProcessMetrics.maximumDescriptorCount).contains(ProcessMetrics.openDescriptorCount))
        #expect(ProcessMetrics.openDescriptorCount == Int(ProcessMetrics.countedDescriptors))
        #expect(!text.contains("NaN"))
    }

    @Test func `a process without a descriptor left still tells about itself`() throws {
        var normal = rlimit()
        #expect(getrlimit(CInt(RLIMIT_NOFILE.rawValue), &normal) == 0)
        var low = rlimit(rlim_cur: rlim_t(ProcessMetrics.openDescriptorCount + 64), rlim_max: normal.rlim_max)
        #expect(setrlimit(CInt(RLIMIT_NOFILE.rawValue), &low) == 0)
        var taken: [CInt] = []
        while true {
            let descriptor = dup(0)
            if descriptor < 0 { break }
            taken.append(descriptor)
        }
        let told = (ProcessMetrics.openDescriptorCount, ProcessMetrics.maximumDescriptorCount, ProcessMetrics.residentBytes)
        for descriptor in taken { close(descriptor) }
        setrlimit(CInt(RLIMIT_NOFILE.rawValue), &normal)
        // Descriptors above the new limit stay open.
        #expect(told.0 >= Int(low.rlim_cur) && told.1 == Int(low.rlim_cur) && told.2 == 0)
    }
}
