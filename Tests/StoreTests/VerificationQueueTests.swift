import Settings
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Verification queue")
struct VerificationQueueTests {
    private typealias Queue = VerificationQueue<Int>
    private let clock = FakeClock()

    @Test func `failures are forgotten by time alone, and newcomers are heard while their table is full`() {
        var queue = Queue(limits: LimitSettings())
        expectFading(maximum: Queue.maximumSources, lifetime: Queue.window) { source, now in
            guard queue.add(0, from: .init(.v4(source)), at: now), let next = queue.next() else { return false }
            queue.finish(next.source, failed: true, at: now)
            return true
        } count: {
            queue.failingSourceCount(at: $0)
        }
    }

    @Test func `a source is closed by its failures for a minute`() {
        var queue = Queue(limits: LimitSettings())
        let source = Queue.Source(.v4(1))
        for _ in 0..<20 {
            _ = queue.add(0, from: source, at: clock.now)
            _ = queue.next()
            queue.finish(source, failed: true, at: clock.now)
        }
        let isHeard = queue.add(0, from: source, at: clock.advance(by: .seconds(59)))
        #expect(!isHeard)
        let isHeardAgain = queue.add(0, from: source, at: clock.advance(by: .seconds(1)))
        #expect(isHeardAgain)
    }
}
