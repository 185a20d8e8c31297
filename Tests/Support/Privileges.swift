import Foundation
import Glibc

/// What this process may do to the machine: root in a container mostly may do none of it.
public enum Privileges {
    /// Mounts file systems, and makes namespaces of processes.
    public static let mounts: Bool = {
        guard let folder = try? TemporaryDirectory() else { return false }
        defer { withExtendedLifetime(folder) {} }
        guard mount("tmpfs", folder.path, "tmpfs", 0, nil) == 0 else { return false }
        umount2(folder.path, CInt(MNT_DETACH))
        return true
    }()

    /// Makes networks of their own, and cables into them. `ip netns` mounts them.
    public static let makesNetworks = mounts && has(capability: 12)

    /// - Parameter number: as linux/capability.h has it; 12 is CAP_NET_ADMIN.
    private static func has(capability number: Int) -> Bool {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let mask = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) }
        return (mask ?? 0) >> UInt64(number) & 1 == 1
    }
}
