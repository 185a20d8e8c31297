import Glibc

/// What this machine calls itself.
enum MachineName {
    /// The kernel's word. Foundation asks name servers, for which the control loop would wait ten seconds while they are away.
    static let current: String = {
        // Linux has 64 bytes at most; the last one here stays 0.
        var name = [CChar](repeating: 0, count: 65)
        _ = unsafe gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }()
}
