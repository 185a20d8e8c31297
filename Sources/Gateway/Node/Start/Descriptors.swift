import Glibc

/// The process's descriptors: connections, sockets, files.
public enum Descriptors {
    /// Takes as many as the system grants. The 1,024 that most shells and containers begin with are for programs that `select`.
    public static func raiseLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Opens /dev/null where whoever started us has closed standard input, output or error: the log would go into the first file
    /// that is opened.
    public static func fillStandardOnes() {
        var last: CInt
        repeat { last = unsafe open("/dev/null", O_RDWR) } while (0..<STDERR_FILENO).contains(last)
        if last > STDERR_FILENO { close(last) }
    }
}
