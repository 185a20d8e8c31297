import Foundation
import Synchronization

/// One recorded ClientHello sent on many TCP connections a second from many addresses of 127.0.0.0/8. Each connection stays until
/// it is answered or closed, or is 5 s old, and then ends by reset. Runs on a thread of its own.
final class HelloFlood: Sendable {
    /// What became of the connections.
    struct Account {
        var opened = 0
        /// The server's first flight came: it spent a signature on this one.
        var answered = 0
        var closedByServer = 0
        /// Nothing came within 5 s.
        var leftWaiting = 0
        var notConnected = 0
        var seconds = 0.0
    }

    private let account = Mutex(Account())
    private let isOver = Atomic<Bool>(false)
    private let hello: [UInt8]
    private let ports: [UInt16]
    private let addresses: Int

    /// - Parameters:
    ///   - hello: see `recordedHello`.
    ///   - ports: taken in turns.
    ///   - addresses: how many of 127.1.0.0/16, in turns.
    init(_ hello: [UInt8], at ports: [UInt16], addresses: Int) {
        (self.hello, self.ports, self.addresses) = (hello, ports, addresses)
    }

    /// Opens so many connections a second for a time, and waits for the end of the last one.
    func start(perSecond: Int, seconds: Int) {
        Thread { [self] in
            let begin = ContinuousClock.now
            var crowd = Crowd()
            for tick in 0..<(seconds * Self.ticksPerSecond) {
                for _ in 0..<(perSecond / Self.ticksPerSecond) { open(in: &crowd) }
                note { crowd.collect(into: &$0) }
                let next = begin.advanced(by: .seconds(1) / Self.ticksPerSecond * (tick + 1))
                let ahead = ContinuousClock.now.duration(to: next)
                if ahead > .zero { poll(nil, 0, CInt(ahead / .milliseconds(1))) }
            }
            note { $0.seconds = ContinuousClock.now.seconds(since: begin) }
            while !crowd.isEmpty {
                note { crowd.collect(into: &$0) }
                poll(nil, 0, 5)
            }
            isOver.store(true, ordering: .releasing)
        }.start()
    }

    /// What became of them; nil when that takes longer than `limit`.
    func end(within limit: Duration) -> Account? {
        holds(within: limit) { isOver.load(ordering: .acquiring) } ? account.withLock { $0 } : nil
    }

    private func open(in crowd: inout Crowd) {
        let number = account.withLock { account in
            account.opened += 1
            return account.opened
        }
        let source = 0x7F01_0001 + UInt32(number % addresses)
        if !crowd.open(from: source, to: ports[number % ports.count], saying: hello) { note { $0.notConnected += 1 } }
    }

    private func note(_ change: (inout Account) -> Void) { account.withLock { change(&$0) } }

    private static let ticksPerSecond = 200

    /// The first record that `openssl s_client` sends: it is taken from a listening socket that never answers.
    static func recordedHello() throws -> [UInt8] {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in(loopback: 0x7F00_0001, port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = listen(listener, 1)
                _ = getsockname(listener, $0, &length)
            }
        }
        let client = try ProgramRun(["openssl", "s_client", "-connect", "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"])
        defer { client.kill() }
        let connection = accept(listener, nil, nil)
        defer { close(connection) }
        var hello = [UInt8](repeating: 0, count: 4_096)
        let count = recv(connection, &hello, hello.count, 0)
        guard count > 5, hello[0] == 0x16 else { throw Fault.notRecorded(client.output) }
        return Array(hello[..<count])
    }

    enum Fault: Error { case notRecorded(String) }
}

/// The connections that wait for an answer.
private struct Crowd {
    private static let patience = Duration.seconds(5)

    private var waiting: [pollfd] = []
    private var opened: [ContinuousClock.Instant] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// On loopback a connection stands when `connect` returns, also where it does not wait for it.
    mutating func open(from source: UInt32, to port: UInt16, saying hello: [UInt8]) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        var on: CInt = 1
        // The port is chosen by `connect`: `bind` would look for one that nobody has toward anybody.
        setsockopt(descriptor, CInt(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &on, socklen_t(MemoryLayout<CInt>.size))
        sockaddr_in(loopback: source, port: 0).withSocketAddress { _ = bind(descriptor, $0, $1) }
        sockaddr_in(loopback: 0x7F00_0001, port: port).withSocketAddress { _ = connect(descriptor, $0, $1) }
        guard send(descriptor, hello, hello.count, CInt(MSG_NOSIGNAL)) == hello.count else {
            close(descriptor)
            return false
        }
        waiting.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        opened.append(.now)
        return true
    }

    /// Ends those that were answered, closed, or waited too long.
    mutating func collect(into account: inout HelloFlood.Account) {
        poll(&waiting, nfds_t(waiting.count), 0)
        let now = ContinuousClock.now
        for index in waiting.indices.reversed() {
            let isReady = waiting[index].revents != 0
            guard isReady || opened[index].duration(to: now) > Self.patience else { continue }
            var byte: UInt8 = 0
            if !isReady {
                account.leftWaiting += 1
            } else if recv(waiting[index].fd, &byte, 1, 0) == 1 {
                account.answered += 1
            } else {
                account.closedByServer += 1
            }
            end(index)
        }
    }

    private mutating func end(_ index: Int) {
        let descriptor = waiting[index].fd
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(descriptor)
        (waiting[index], opened[index]) = (waiting[waiting.count - 1], opened[opened.count - 1])
        waiting.removeLast()
        opened.removeLast()
    }
}

extension ContinuousClock.Instant {
    fileprivate func seconds(since other: Self) -> Double { other.duration(to: self) / .seconds(1) }
}

extension sockaddr_in {
    fileprivate init(loopback host: UInt32, port: UInt16) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = port.bigEndian
        sin_addr.s_addr = host.bigEndian
    }

    fileprivate func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) {
        withUnsafePointer(to: self) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
