/// The memory that a control group (version 2) may have before the kernel ends one of its processes.
public struct MemoryAllowance: Sendable {
    /// In bytes.
    public let limit: Int
    private let folder: String

    /// The least of this process's own group and of those above it; nil where nothing bounds them.
    public static var granted: MemoryAllowance? {
        CgroupQuota.folders(in: KernelFile.text(of: "/proc/self/cgroup") ?? "").compactMap { MemoryAllowance(folder: $0) }
            .min { $0.limit < $1.limit }
    }

    /// - Parameter folder: the group's.
    public init?(folder: String) {
        guard let limit = KernelFile.text(of: folder + "/memory.max").flatMap(Self.bytes) else { return nil }
        (self.limit, self.folder) = (limit, folder)
    }

    /// What all processes of the group have of it, with what the kernel keeps for them, such as sockets' buffers, in bytes. What
    /// it takes back before it ends anybody is not counted. Nil where it cannot be read.
    public var inUse: Int? {
        guard let current = KernelFile.text(of: folder + "/memory.current").flatMap(Self.bytes) else { return nil }
        return max(0, current - Self.reclaimable(in: KernelFile.text(of: folder + "/memory.stat") ?? ""))
    }

    /// Of `memory.stat`: pages of files, and the kernel's caches.
    static func reclaimable(in statistics: String) -> Int {
        let names: Set<Substring> = ["active_file", "inactive_file", "slab_reclaimable"]
        return statistics.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count == 2, names.contains(words[0]), let bytes = Int(words[1]) else { return sum }
            return sum + bytes
        }
    }

    /// `max`, or a number.
    static func bytes(in text: String) -> Int? { text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } }
}
