import Testing

@testable import EventLoop

@Suite("CPU allowance")
struct CPUAllowanceTests {
    @Test(
        arguments: [
            (8, nil, 8), (8, 2, 2), (8, 1.5, 1.5), (8, 0.2, 0.2), (2, 16, 2), (-1, nil, 1),
        ] as [(Int, Double?, Double)])
    func `is the lesser of affinity and quota, in fractions`(affinity: Int, quota: Double?, processors: Double) {
        #expect(CPUAllowance.processors(affinity: affinity, quota: quota) == processors)
    }

    @Test(
        arguments: [
            ("max 100000\n", nil), ("150000 100000\n", 1.5), ("", nil), ("x y", nil), ("100000 0", nil), ("1", nil),
        ] as [(String, Double?)])
    func `reads cpu.max of cgroup version 2`(text: String, quota: Double?) {
        #expect(CgroupQuota.version2(text) == quota)
    }

    @Test(
        arguments: [
            ("-1\n", "100000\n", nil), ("200000\n", "100000\n", 2.0), ("", "", nil),
        ] as [(String, String, Double?)])
    func `reads the quota files of cgroup version 1`(quota: String, period: String, expected: Double?) {
        #expect(CgroupQuota.version1(quota: quota, period: period) == expected)
    }

    @Test func `looks for what was throttled at the process's group and at those above it`() {
        let groups = "1:cpu:/old\n0::/system.slice/stagedoor.service\n"
        #expect(
            CgroupQuota.folders(in: groups) == [
                "/sys/fs/cgroup/system.slice/stagedoor.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup",
            ])
        #expect(CgroupQuota.folders(in: "") == [])
    }

    @Test(
        arguments: [
            ("usage_usec 7\nnr_throttled 2\nthrottled_usec 1500000\n", 1.5), ("usage_usec 7\n", nil), ("", nil),
            ("throttled_usec x\n", nil),
        ] as [(String, Double?)])
    func `reads cpu.stat of cgroup version 2`(text: String, seconds: Double?) {
        #expect(CgroupQuota.throttledSeconds(in: text) == seconds)
    }

    @Test(arguments: [("max\n", nil), ("536870912\n", 536_870_912), ("", nil), ("x", nil)] as [(String, Int?)])
    func `reads memory.max of cgroup version 2`(text: String, bytes: Int?) {
        #expect(MemoryAllowance.bytes(in: text) == bytes)
    }

    @Test(
        arguments: [
            ("anon 700\nfile 90\nactive_file 60\ninactive_file 30\nslab 15\nslab_reclaimable 10\n", 100), ("anon 700\n", 0),
            ("", 0),
            ("active_file x\ninactive_file\n", 0),
        ] as [(String, Int)])
    func `reads in memory.stat what the kernel takes back by itself`(text: String, bytes: Int) {
        #expect(MemoryAllowance.reclaimable(in: text) == bytes)
    }

    @Test func `this machine grants something`() {
        #expect(CPUAllowance.granted >= 1 && CPUAllowance.processors > 0)
        #expect((0..<1).contains(Double(CPUAllowance.granted) - CPUAllowance.processors))
    }
}
