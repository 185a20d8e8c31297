import Dispatch
import EventLoop
import Testing
import Wire

@Suite("Mailbox")
struct MailboxTests {
    @Test(.timeLimit(.minutes(10)))
    func `messages of many threads all arrive, each thread's in order`() throws {
        let loop = try EventLoop()
        let (threadCount, messageCount) = (8, 20_000)
        var next = [Int](repeating: 0, count: threadCount)
        var received = 0
        let mailbox = try Mailbox<(Int, Int)>(loop: loop, maximumMessages: .max) { thread, number in
            #expect(number == next[thread])
            next[thread] += 1
            received += 1
        }
        let sender = mailbox.sender
        let threads = try (0..<threadCount).map { thread in
            try WorkerThread.start(name: "sender-\(thread)") {
                for number in 0..<messageCount { sender.send((thread, number)) }
            }
        }
        #expect(loop.run(until: { received == threadCount * messageCount }, within: .seconds(120)))
        threads.forEach { $0.join() }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a message sent while receiving is received too`() throws {
        let loop = try EventLoop()
        var received: [Int] = []
        var box: Mailbox<Int>?
        box = try Mailbox<Int>(loop: loop) { number in
            received.append(number)
            if number < 5 { box?.sender.send(number + 1) }
        }
        box?.sender.send(0)
        #expect(loop.run(until: { received.count == 6 }, within: .seconds(60)))
        #expect(received == [0, 1, 2, 3, 4, 5])
    }

    @Test func `what waits is received without the loop, once`() throws {
        let loop = try EventLoop()
        var received: [Int] = []
        let box = try Mailbox<Int>(loop: loop) { received.append($0) }
        for number in 1...3 { box.sender.send(number) }
        box.deliver()
        #expect(received == [1, 2, 3])
        box.sender.send(4)
        #expect(loop.run(until: { received.count == 4 }, within: .seconds(60)))
        #expect(received == [1, 2, 3, 4])
    }

    @Test func `a full mailbox and a mailbox that is gone refuse`() throws {
        let loop = try EventLoop()
        var box: Mailbox<Int>? = try Mailbox<Int>(loop: loop, maximumMessages: 2) { _ in }
        let sender = try #require(box?.sender)
        #expect([1, 2, 3].map { sender.send($0) } == [true, true, false])
        box = nil
        #expect(!sender.send(4))
        #expect(box == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a message that ends the mailbox is the last that is received`() throws {
        let loop = try EventLoop()
        var received: [Int] = []
        var box: Mailbox<Int>?
        box = try Mailbox<Int>(loop: loop) { number in
            received.append(number)
            box = nil
        }
        for number in 1...3 { box?.sender.send(number) }
        #expect(loop.run(until: { !received.isEmpty }, within: .seconds(60)))
        #expect(received == [1])
        #expect(box == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a worker thread builds its own loop and is reached through its mailbox`() throws {
        let loop = try EventLoop()
        var sum = 0
        let replies = try Mailbox<Int>(loop: loop) { sum += $0 }
        let reply = replies.sender
        let inbox = Lock<MailboxSender<Int>?>(nil)
        let worker = try WorkerThread.start(name: "worker") {
            do {
                let loop = try EventLoop()
                let requests = try Mailbox<Int>(loop: loop) { number in
                    if number < 0 { loop.stop() } else { reply.send(number * number) }
                }
                inbox.withLock { $0 = requests.sender }
                reply.send(0)
                loop.run()
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(loop.run(until: { inbox.withLock { $0 } != nil }, within: .seconds(60)))
        let requests = try #require(inbox.withLock { $0 })
        for number in 1...10 { requests.send(number) }
        #expect(loop.run(until: { sum == 385 }, within: .seconds(60)))
        requests.send(-1)
        worker.join()
    }

    /// Says when it is let go of.
    private final class Parting: Sendable {
        private let told: @Sendable () -> Void

        init(_ told: @escaping @Sendable () -> Void) { self.told = told }
        deinit { told() }
    }

    @Test(.timeLimit(.minutes(10)))
    func `whoever sends to a mailbox that goes does not wait until its messages are let go of`() throws {
        let loop = try EventLoop()
        var box: Mailbox<Parting>? = try Mailbox<Parting>(loop: loop) { _ in }
        let sender = try #require(box?.sender)
        let senders = Lock<[WorkerThread]>([])
        let isAnswered = Lock(false)
        let parting = { @Sendable in
            let answered = DispatchSemaphore(value: 0)
            let thread = try? WorkerThread.start(name: "sender") {
                sender.send(Parting {})
                answered.signal()
            }
            if let thread { senders.withLock { $0.append(thread) } }
            let isInTime = answered.wait(timeout: .now() + 60) == .success
            isAnswered.withLock { $0 = isInTime }
        }
        sender.send(Parting(parting))
        box = nil
        #expect(box == nil)
        let wasAnswered = isAnswered.withLock { $0 }
        #expect(wasAnswered)
        for thread in senders.withLock({ $0 }) { thread.join() }
    }
}
