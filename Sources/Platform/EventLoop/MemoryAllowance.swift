/// The memory that this process may have before the kernel ends it.
public enum MemoryAllowance {
    /// In bytes, the least limit of its control group (version 2) and of those above it; nil for none.
    public static var granted: Int? {
        let folders = CgroupQuota.folders(in: KernelFile.text(of: "/proc/self/cgroup") ?? "")
        return folders.compactMap { KernelFile.text(of: $0 + "/memory.max").flatMap(bytes) }.min()
    }

    /// `max`, or a number.
    static func bytes(in text: String) -> Int? { text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } }
}
