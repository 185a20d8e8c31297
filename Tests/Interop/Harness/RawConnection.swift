import Foundation

/// A TCP connection that says what no encoder would. Blocking, with a time limit on every call.
final class RawConnection {
    enum Ending: Equatable { case closed, reset, stillOpen }

    private let descriptor: CInt
    private var isOpen = true

    /// Connects to 127.0.0.1.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Fault.notConnected(errno) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    /// Sends what the peer takes; false when it took no more.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let sent = bytes[start...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            start += sent
        }
        return true
    }

    /// Reads until the peer ends the connection or the time is over; answers how, and what it said.
    func ending(within limit: Duration) -> (Ending, [UInt8]) {
        var received: [UInt8] = []
        var ending = Ending.stillOpen
        _ = holds(within: limit) {
            var chunk = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = recv(descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
                if count > 0 {
                    received += chunk[..<count]
                    continue
                }
                if count < 0 && errno == EAGAIN { return false }
                ending = count == 0 ? .closed : .reset
                return true
            }
        }
        return (ending, received)
    }

    /// Whether so many bytes come in time.
    func receives(_ count: Int, within limit: Duration) -> Bool {
        var received = 0
        return holds(within: limit) {
            var chunk = [UInt8](repeating: 0, count: 16_384)
            while received < count {
                let part = recv(descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT))
                if part <= 0 { return false }
                received += part
            }
            return true
        }
    }

    func close() {
        if isOpen { Foundation.close(descriptor) }
        isOpen = false
    }

    /// The peer sees a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    enum Fault: Error { case notConnected(CInt) }
}
