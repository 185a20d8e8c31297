import Foundation
import Wire

/// A UDP socket on loopback, or an ICE-TCP connection (RFC 4571 frames), that waits only as long as told.
final class ClientSocket {
    private let descriptor: CInt
    private let isStream: Bool
    private var buffered: [UInt8] = []

    init() {
        (descriptor, isStream) = (socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0), false)
        var address = Self.address(SocketAddress(.loopback, port: 0))
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    init(connectingTo remote: SocketAddress) {
        (descriptor, isStream) = (socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0), true)
        var address = Self.address(remote)
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8], to remote: SocketAddress) {
        if isStream { return sendRaw([UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes) }
        var address = Self.address(remote)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Bytes as they are, for streams.
    func sendRaw(_ bytes: [UInt8]) { _ = Foundation.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) }

    func receive(within milliseconds: Int32) -> [UInt8]? {
        if let frame = takeFrame() { return frame }
        guard isReadable(within: milliseconds) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        if !isStream { return Array(buffer[..<count]) }
        buffered += buffer[..<count]
        return takeFrame()
    }

    /// The peer has closed a stream.
    func isClosed(within milliseconds: Int32) -> Bool {
        guard isReadable(within: milliseconds) else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_PEEK)) <= 0
    }

    private func isReadable(within milliseconds: Int32) -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, milliseconds) > 0
    }

    private func takeFrame() -> [UInt8]? {
        guard buffered.count >= 2 else { return nil }
        let count = Int(buffered[0]) << 8 | Int(buffered[1])
        guard buffered.count >= 2 + count else { return nil }
        defer { buffered.removeFirst(2 + count) }
        return Array(buffered[2..<(2 + count)])
    }

    private static func address(_ address: SocketAddress) -> sockaddr_in {
        guard case .v4(let ip) = address.ip else { preconditionFailure("tests use IPv4") }
        var result = sockaddr_in()
        result.sin_family = sa_family_t(AF_INET)
        result.sin_port = address.port.bigEndian
        result.sin_addr.s_addr = ip.bigEndian
        return result
    }
}
