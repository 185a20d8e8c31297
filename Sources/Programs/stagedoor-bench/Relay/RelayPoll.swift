import CShim
import EventLoop
import Glibc

/// What a socket's bytes become.
protocol RelayedStream {
    /// Takes what has come; false once there is nothing more to expect.
    func take() -> Bool
}

/// The sockets of one thread, by epoll. Others add to them.
struct RelayPoll: Sendable {
    private let descriptor: CInt

    init() throws {
        descriptor = epoll_create1(0)
        guard descriptor >= 0 else { throw SystemError(call: "epoll_create1") }
    }

    func add(_ socket: CInt, stream: Int) {
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue
        unsafe event.data.u64 = UInt64(stream) << 32 | UInt64(socket)
        unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event)
    }

    /// Serves the sockets until the process ends.
    /// - Parameter make: the stream of a socket that has not sent before.
    func serve<Stream: RelayedStream>(_ make: (CInt, Int) -> Stream?) -> Never {
        var streams: [CInt: Stream] = [:]
        var events = unsafe [epoll_event](repeating: epoll_event(), count: Self.maximumEvents)
        while true {
            let count = unsafe epoll_wait(descriptor, &events, CInt(events.count), -1)
            for index in 0..<max(0, Int(count)) {
                let event = unsafe events[index]
                let (socket, number) = unsafe (CInt(truncatingIfNeeded: event.data.u64 & 0xFFFF_FFFF), Int(event.data.u64 >> 32))
                let stream = streams[socket] ?? make(socket, number)
                streams[socket] = stream
                if stream?.take() != true {
                    streams[socket] = nil
                    close(socket)
                }
            }
        }
    }

    private static let maximumEvents = 64
}
