import EventLoop
import Glibc
import Wire

/// Asks the system's resolver on a thread of its own, because it blocks, and answers on the loop.
final class HostLookup {
    private struct Answer: Sendable {
        let number: Int
        let addresses: [SocketAddress]
    }

    /// Of one name that are tried.
    private static let maximumAddresses = 8

    private let mailbox: Mailbox<Answer>
    private let waiting: Waiting

    /// Answers that are still to come, by their lookup's number.
    private final class Waiting {
        var bodies: [Int: ([SocketAddress]) -> Void] = [:]
        var count = 0
    }

    /// - Throws: when the kernel gives no more descriptors.
    init(loop: EventLoop) throws(SystemError) {
        let waiting = Waiting()
        self.waiting = waiting
        mailbox = try Mailbox(loop: loop) { waiting.bodies.removeValue(forKey: $0.number)?($0.addresses) }
    }

    /// Calls `found` once, never from inside this call; with nothing when nobody knows the name.
    func find(_ endpoint: RedisEndpoint, _ found: @escaping ([SocketAddress]) -> Void) {
        waiting.count += 1
        let number = waiting.count
        waiting.bodies[number] = found
        let sender = mailbox.sender
        if let address = endpoint.address {
            sender.send(Answer(number: number, addresses: [address]))
            return
        }
        let thread = try? WorkerThread.start(name: "redis-lookup") {
            sender.send(Answer(number: number, addresses: Self.addresses(of: endpoint)))
        }
        if thread == nil { sender.send(Answer(number: number, addresses: [])) }
    }

    private static func addresses(of endpoint: RedisEndpoint) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var first: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(endpoint.host, nil, &hints, &first) == 0 else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var list = unsafe first
        var addresses: [SocketAddress] = []
        while let entry = unsafe list?.pointee, addresses.count < maximumAddresses {
            if let ip = unsafe numeric(entry) { addresses.append(SocketAddress(ip, port: endpoint.port)) }
            unsafe list = entry.ai_next
        }
        return addresses
    }

    private static func numeric(_ entry: addrinfo) -> IPAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, CInt(NI_NUMERICHOST))
        guard status == 0 else { return nil }
        return IPAddress(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
