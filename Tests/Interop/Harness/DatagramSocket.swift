import Foundation

/// A UDP socket on 127.0.0.1 that never blocks.
final class DatagramSocket {
    struct Arrival {
        var bytes: [UInt8]
        var source: sockaddr_in
    }

    let descriptor: CInt
    let port: UInt16

    /// - Parameter port: 0 takes any free one.
    init(port: UInt16 = 0) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var size: CInt = 4 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        // As root beyond the system's limit: what waits for a test that gets no CPU must not be lost.
        size = 32 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, socklen_t(MemoryLayout<CInt>.size))
        var address = Self.loopback(port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = Self.withAddress(&address) { bind(descriptor, $0, length) }
        guard bound == 0 else { throw Fault.notBound(port, errno) }
        var name = sockaddr_in()
        var count = length
        _ = Self.withAddress(&name) { getsockname(descriptor, $0, &count) }
        (self.descriptor, self.port) = (descriptor, UInt16(bigEndian: name.sin_port))
    }

    deinit { close(descriptor) }

    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    func send(_ bytes: [UInt8], to destination: sockaddr_in) {
        var destination = destination
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = Self.withAddress(&destination) { sendto(descriptor, bytes, bytes.count, 0, $0, length) }
    }

    /// What waits, one datagram at a time; nil when nothing does.
    func receive() -> Arrival? {
        var bytes = [UInt8](repeating: 0, count: 2_048)
        var source = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = Self.withAddress(&source) { recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length) }
        guard count >= 0 else { return nil }
        return Arrival(bytes: Array(bytes[..<count]), source: source)
    }

    private static func withAddress<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    enum Fault: Error { case notBound(UInt16, CInt) }
}

/// The receiving end of a static router's participant: its two tracks' ports.
final class RouterEnd {
    let video: DatagramSocket
    let audio: DatagramSocket

    init(firstPort: Int) throws {
        video = try DatagramSocket(port: UInt16(firstPort))
        audio = try DatagramSocket(port: UInt16(firstPort + 2))
    }

    /// How many datagrams wait, all of which are thrown away.
    func drain() -> Int {
        var count = 0
        for socket in [video, audio] { while socket.receive() != nil { count += 1 } }
        return count
    }
}
