import EventLoop
import Glibc
import Sockets
import Testing
import Wire

@Suite("Passing descriptors", .timeLimit(.minutes(10)))
struct DescriptorMessageTests {
    @Test func `a listener goes on under another descriptor, with the connections that waited`() throws {
        let loop = try EventLoop()
        let (near, far) = try DescriptorMessage.makePair()
        var listener: TCPListener? = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { _ in }
        let address = try #require(listener?.localAddress)
        let socket = try BoundSocket(.tcp, SocketAddress(.loopback, port: 0))
        listener = try TCPListener(loop: loop, socket: socket) { _ in }
        listener?.stop()
        let client = Client(try TCPStream(loop: loop, connectingTo: socket.localAddress))
        #expect(loop.run(until: { client.isOpen }, within: .seconds(120)))

        try DescriptorMessage(bytes: [42], descriptors: [socket.descriptor]).send(over: near)
        let message = try #require(try DescriptorMessage.receive(over: far))
        #expect(message.bytes == [42])
        let passed = try BoundSocket(adopting: try #require(message.descriptors.first), .tcp)
        #expect(passed.localAddress == socket.localAddress)
        var accepted: [AcceptedConnection] = []
        let successor = try TCPListener(loop: loop, socket: passed) { accepted.append($0) }
        #expect(loop.run(until: { accepted.count == 1 }, within: .seconds(120)))
        #expect(successor.localAddress != address)
        #expect(DescriptorMessage.peerUser(of: far) == getuid())
    }

    @Test func `messages keep their boundaries, and the end is an end`() throws {
        var (near, far): (OwnedDescriptor?, OwnedDescriptor) = try DescriptorMessage.makePair()
        let sender = try #require(near)
        try DescriptorMessage(bytes: [1, 2]).send(over: sender)
        try DescriptorMessage(bytes: [3]).send(over: sender)
        #expect(try DescriptorMessage.receive(over: far)?.bytes == [1, 2])
        #expect(try DescriptorMessage.receive(over: far)?.bytes == [3])
        let empty = #expect(throws: SystemError.self) { try DescriptorMessage.receive(over: far) }
        #expect(empty?.code == EAGAIN)
        near = nil
        withExtendedLifetime(sender) {}
    }

    /// poll(2) is not begun again for anybody: a signal to the thread that takes a process's place looked like a silence of 10 s.
    @Test func `a signal does not end the wait for a message`() throws {
        let (near, far) = try DescriptorMessage.makePair()
        // A real-time signal that nothing else here uses, with a handler: what is ignored interrupts nobody.
        let number: CInt = 45
        signal(number) { _ in }
        let (waiting, answer) = (Lock<pthread_t?>(nil), Lock<Bool?>(nil))
        let thread = try WorkerThread.start(name: "waits") {
            waiting.withLock { $0 = pthread_self() }
            let isThere = MessageSocket.waitForMessage(on: far, within: .seconds(60))
            answer.withLock { $0 = isThere }
        }
        while waiting.withLock({ $0 }) == nil { sched_yield() }
        let waiter = try #require(waiting.withLock { $0 })
        for _ in 0..<50 where answer.withLock({ $0 }) == nil {
            pthread_kill(waiter, number)
            usleep(2_000)
        }
        #expect(answer.withLock { $0 } == nil)
        try DescriptorMessage(bytes: [1]).send(over: near)
        thread.join()
        #expect(answer.withLock { $0 } == true)
    }

    @Test func `sixty-four descriptors travel in one message, and none is lost`() throws {
        let (near, far) = try DescriptorMessage.makePair()
        let all = try (0..<DescriptorMessage.maximumDescriptors).map { _ in try near.duplicate() }
        try DescriptorMessage(bytes: [0], descriptors: all).send(over: near)
        let received = try #require(try DescriptorMessage.receive(over: far))
        #expect(Set(received.descriptors.map(\.number)).count == DescriptorMessage.maximumDescriptors)
    }
}
