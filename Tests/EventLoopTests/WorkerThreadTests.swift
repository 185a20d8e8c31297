import EventLoop
import Testing

@Suite("WorkerThread")
struct WorkerThreadTests {
    @Test func `a thread that serves can be reached once it is started`() throws {
        let total = Lock(0)
        let (thread, sender) = try WorkerThread.startServing(name: "adder") {
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

    @Test func `what keeps a thread from serving is thrown to whoever starts it`() {
        #expect(throws: SystemError(call: "open", code: 2)) {
            try WorkerThread.startServing(name: "none") { () throws -> (MailboxSender<Int>, () -> Void) in
                throw SystemError(call: "open", code: 2)
            }
        }
    }
}
