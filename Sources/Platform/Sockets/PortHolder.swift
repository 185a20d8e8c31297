import EventLoop
import Glibc

/// Who has a port: for the message of a program that finds it taken.
public enum PortHolder {
    /// Such as `stagedoor (pid 4711)`; nil when it cannot be found out, as with another user's processes.
    public static func describe(_ transport: BoundSocket.Transport, port: UInt16) -> String? {
        let names = transport == .udp ? ["udp", "udp6"] : ["tcp", "tcp6"]
        let sockets = Set(names.flatMap { inodes(boundTo: port, in: "/proc/net/\($0)", isListening: transport == .tcp) })
        guard !sockets.isEmpty else { return nil }
        for process in entries(of: "/proc") where process.utf8.allSatisfy({ (48...57).contains($0) }) {
            let folder = "/proc/\(process)/fd"
            for descriptor in entries(of: folder) {
                guard let target = link("\(folder)/\(descriptor)"), sockets.contains(target) else { continue }
                let name = KernelFile.text(of: "/proc/\(process)/comm")?.split(separator: "\n").first.map(String.init) ?? "?"
                return "\(name) (pid \(process))"
            }
        }
        return nil
    }

    /// The sockets of that port as `/proc/…/fd` shows them: `socket:[12345]`.
    static func inodes(inTable table: String, boundTo port: UInt16, isListening: Bool) -> [String] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, let local = fields[1].split(separator: ":").last, UInt16(local, radix: 16) == port,
                !isListening || fields[3] == "0A"  // TCP_LISTEN
            else { return nil }
            return "socket:[\(fields[9])]"
        }
    }

    /// Of the kernel's table of sockets, some 25,000 of them.
    private static let maximumTableBytes = 4 << 20

    private static func inodes(boundTo port: UInt16, in path: String, isListening: Bool) -> [String] {
        inodes(inTable: KernelFile.text(of: path, maximumBytes: maximumTableBytes) ?? "", boundTo: port, isListening: isListening)
    }

    private static func entries(of folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func link(_ path: String) -> String? {
        var target = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink(path, &target, target.count)
        return count > 0 ? String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
