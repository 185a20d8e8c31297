import CShim

/// The CPUs that this process may use: its affinity mask and its cgroup's quota, whichever is less.
public enum CPUAllowance {
    /// At least 1; a quota of 1.5 CPUs counts as 2, since half a CPU idle is better than half a CPU missing.
    public static var granted: Int { max(1, Int(processors.rounded(.up))) }

    /// What all threads together can use, in CPUs: with a quota of 1.5, 1.5.
    public static var processors: Double { processors(affinity: Int(shim_affinity_count()), quota: CgroupQuota.current()) }

    /// How long quotas have kept the process waiting, in seconds: those of its control group (version
    /// 2) and of the groups above it.
    public static var throttledSeconds: Double {
        let folders = CgroupQuota.folders(in: KernelFile.text(of: "/proc/self/cgroup") ?? "")
        return folders.compactMap { KernelFile.text(of: $0 + "/cpu.stat").flatMap(CgroupQuota.throttledSeconds) }.reduce(0, +)
    }

    static func processors(affinity: Int, quota: Double?) -> Double {
        let available = Double(max(1, affinity))
        guard let quota, quota > 0 else { return available }
        return min(available, quota)
    }
}

/// The CPU quota of a control group in CPUs: `cpu.max` of version 2, `cpu.cfs_quota_us` of version 1.
enum CgroupQuota {
    /// The least quota of the process's own group and those above it; nil for none.
    static func current() -> Double? {
        let groups = KernelFile.text(of: "/proc/self/cgroup") ?? ""
        var quotas = folders(in: groups).compactMap { KernelFile.text(of: $0 + "/cpu.max").flatMap(version2) }
        for line in groups.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].split(separator: ",").contains("cpu") else { continue }
            quotas += chain(of: fields[2]).compactMap { version1(in: "/sys/fs/cgroup/\(fields[1])\($0)") }
        }
        return quotas.min()
    }

    /// The folders of the process's group of version 2 and of those above it.
    static func folders(in groups: String) -> [String] {
        groups.split(separator: "\n").filter { $0.hasPrefix("0::") }.flatMap { chain(of: $0.dropFirst(3)) }
            .map { "/sys/fs/cgroup\($0)" }
    }

    /// What `cpu.stat` of version 2 says of a group that has a quota.
    static func throttledSeconds(in statistics: String) -> Double? {
        let name = "throttled_usec "
        let line = statistics.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Double($0.dropFirst(name.count)) }.map { $0 / 1e6 }
    }

    /// `max 100000` or `150000 100000`: quota and period in microseconds.
    static func version2(_ text: String) -> Double? {
        let fields = text.split(whereSeparator: \.isWhitespace).map { Double($0) }
        guard fields.count == 2, let quota = fields[0], let period = fields[1], period > 0 else { return nil }
        return quota / period
    }

    /// A quota of −1 means none.
    static func version1(quota: String, period: String) -> Double? {
        guard let quota = quota.split(whereSeparator: \.isWhitespace).first.flatMap({ Double($0) }), quota > 0,
            let period = period.split(whereSeparator: \.isWhitespace).first.flatMap({ Double($0) }), period > 0
        else { return nil }
        return quota / period
    }

    private static func version1(in folder: String) -> Double? {
        guard let quota = KernelFile.text(of: folder + "/cpu.cfs_quota_us"),
            let period = KernelFile.text(of: folder + "/cpu.cfs_period_us")
        else { return nil }
        return version1(quota: quota, period: period)
    }

    /// `/a/b` → `/a/b`, `/a` and the root. In a container the path is often that of the host and only the root exists.
    private static func chain(of path: Substring) -> [String] {
        var names = path.split(separator: "/").filter { $0 != ".." }
        var chain: [String] = []
        while !names.isEmpty {
            chain.append("/" + names.joined(separator: "/"))
            names.removeLast()
        }
        return chain + [""]
    }
}
