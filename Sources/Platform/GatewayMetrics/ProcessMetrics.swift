import EventLoop
import Glibc
import Wire

/// What the kernel knows about this process, under the names every Prometheus client uses.
public enum ProcessMetrics {
    /// - Parameter version: of the program, for `stagedoor_build_info`.
    public static func register(in registry: MetricsRegistry, version: String) {
        let start = Double(EventLoop.wallNow().nanosecondsSince1970) / 1e9
        registry.reading("process_start_time_seconds", "Start of the process since 1970 in seconds.") { start }
        registry.reading("process_cpu_seconds_total", "User and system CPU time in seconds.") { cpuSeconds }
        registry.reading("process_resident_memory_bytes", "Resident memory in bytes.") { memory(field: 1) }
        registry.reading("process_virtual_memory_bytes", "Virtual memory in bytes.") { memory(field: 0) }
        registry.reading("process_open_fds", "Open file descriptors.") { openDescriptors }
        registry.reading("process_max_fds", "Most file descriptors that may be open.") { maximumDescriptors }
        registry.reading(
            "stagedoor_cpu_throttled_seconds_total",
            "Time in seconds that the control group's CPU quota kept the process waiting."
        ) { CPUAllowance.throttledSeconds }
        registry.gauge("stagedoor_build_info", "Always 1; the labels tell the build.", ["version": version]).set(1)
    }

    /// Resident memory in bytes, for admission by memory; 0 where it cannot be read.
    public static var residentBytes: Int { Int(exactly: memory(field: 1).rounded()) ?? 0 }
    /// 0 where it cannot be read.
    public static var openDescriptorCount: Int { Int(exactly: openDescriptors) ?? 0 }
    /// `Int.max` where there is no limit.
    public static var maximumDescriptorCount: Int { Int(exactly: maximumDescriptors) ?? .max }

    /// User and system CPU time of the process in seconds.
    public static var cpuSeconds: Double {
        var usage = rusage()
        unsafe getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        return seconds + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// A field of `/proc/self/statm`, which counts pages.
    private static func memory(field: Int) -> Double {
        let fields = (KernelFile.text(of: "/proc/self/statm") ?? "").split(separator: " ")
        guard field < fields.count, let pages = Double(fields[field]) else { return .nan }
        return pages * Double(sysconf(CInt(_SC_PAGESIZE)))
    }

    /// Since Linux 6.2 it is the directory's size; before, its entries have to be counted.
    private static var openDescriptors: Double {
        var status = stat()
        if unsafe stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Double(status.st_size) }
        return countedDescriptors
    }

    /// What the kernel lists of them, one by one. That takes a descriptor too: where none is left, all are in use.
    static var countedDescriptors: Double {
        guard let directory = unsafe opendir("/proc/self/fd") else {
            return errno == EMFILE || errno == ENFILE ? maximumDescriptors : .nan
        }
        defer { unsafe closedir(directory) }
        var count = -3  // `.`, `..` and the directory itself
        while unsafe readdir(directory) != nil { count += 1 }
        return Double(count)
    }

    private static var maximumDescriptors: Double {
        var limit = rlimit()
        guard unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .nan }
        return Double(limit.rlim_cur)
    }
}
