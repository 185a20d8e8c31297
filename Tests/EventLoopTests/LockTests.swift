import EventLoop
import Testing

@Suite("Lock")
struct LockTests {
    @Test(.timeLimit(.minutes(10)))
    func `counts of many threads add up`() throws {
        let total = Lock(0)
        let threads = try (0..<8).map { index in
            try WorkerThread.start(name: "counter-\(index)") { for _ in 0..<10_000 { total.withLock { $0 += 1 } } }
        }
        threads.forEach { $0.join() }
        #expect(total.withLock { $0 } == 80_000)
    }
}
