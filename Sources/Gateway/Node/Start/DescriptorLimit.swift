import Glibc

/// How many descriptors the process may have: connections, sockets, files.
public enum DescriptorLimit {
    /// Takes all that the system grants. The 1,024 that most shells and containers begin with are for programs that `select`.
    public static func raise() {
        var limit = rlimit()
        guard unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit)
    }
}
