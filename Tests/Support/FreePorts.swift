import Glibc

/// Ports that nothing on this machine uses, below those that the kernel hands out and beside those that
/// Tests/Interop keeps for its receivers.
public enum FreePorts {
    private static let range = 10_000..<20_000

    /// As many UDP ports in a row, the first of them even.
    public static func inARow(_ count: Int) -> ClosedRange<UInt16> {
        while true {
            let first = Int.random(in: range.lowerBound..<(range.upperBound - count)) & ~1
            let ports = UInt16(first)...UInt16(first + count - 1)
            if ports.allSatisfy({ isFree($0, SOCK_DGRAM) }) { return ports }
        }
    }

    public static func tcp() -> UInt16 {
        while true {
            let port = UInt16.random(in: UInt16(range.lowerBound)..<UInt16(range.upperBound))
            if isFree(port, SOCK_STREAM) { return port }
        }
    }

    private static func isFree(_ port: UInt16, _ kind: __socket_type) -> Bool {
        let descriptor = socket(AF_INET, CInt(kind.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
