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
            if areFree(ports) { return ports }
        }
    }

    /// Whether nobody on this machine receives datagrams at any of them.
    public static func areFree(_ ports: ClosedRange<UInt16>) -> Bool { ports.allSatisfy { isFree($0, SOCK_DGRAM) } }

    /// - Parameter distance: so far above it is another one that is free, as a node of a Redis cluster needs it for its bus.
    public static func tcp(withAnotherAbove distance: UInt16 = 0) -> UInt16 {
        while true {
            let port = UInt16.random(in: UInt16(range.lowerBound)..<UInt16(range.upperBound))
            if isFree(port, SOCK_STREAM), isFree(port + distance, SOCK_STREAM) { return port }
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
