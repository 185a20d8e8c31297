import EventLoop
import TestSupport
import Testing
import Wire

@Suite("WorkerThread")
struct WorkerThreadTests {
    @Test func `a thread that serves can be reached once it is started`() throws {
        let total = Lock(0)
        let (thread, sender) = try WorkerThread.startServing(name: "adder") { () throws(SystemError) in
            let loop = try EventLoop()
            let mailbox = try Mailbox<Int>(loop: loop) { number in
                if number == 0 { loop.stop() } else { total.withLock { $0 += number } }
            }
            return (mailbox.sender, { withExtendedLifetime(mailbox) { loop.run() } })
        }
        for number in [3, 4, 0] { #expect(sender.send(number)) }
        thread.join()
        #expect(total.withLock { $0 } == 7)
    }

    @Test func `a thread is waited for until it ends, or until a moment`() throws {
        let mayEnd = Lock(false)
        let threads = try (0..<2).map { index in
            try WorkerThread.start(name: "waits-\(index)") { waitUntil { mayEnd.withLock { $0 } } }
        }
        #expect(!threads[0].join(until: EventLoop.monotonicNow() + .milliseconds(1)))
        mayEnd.withLock { $0 = true }
        #expect(threads[1].join(until: EventLoop.monotonicNow() + .seconds(600)))
        #expect(threads[1].join(until: .zero), "it is waited for once")
    }

    @Test func `what keeps a thread from serving is thrown to whoever starts it`() {
        #expect(throws: SystemError(call: "open", code: 2)) {
            try WorkerThread.startServing(name: "none") { () throws(SystemError) -> (MailboxSender<Int>, () -> Void) in
                throw SystemError(call: "open", code: 2)
            }
        }
    }
}
