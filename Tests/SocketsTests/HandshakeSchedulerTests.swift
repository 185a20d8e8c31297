import EventLoop
import TestSupport
import Testing
import Wire

@testable import Sockets

@Suite("Handshakes in turn", .timeLimit(.minutes(10)))
struct HandshakeSchedulerTests {
    /// A step that costs so much CPU.
    static func burn(_ cost: Duration) {
        let end = EventLoop.threadCPU() + cost
        while EventLoop.threadCPU() < end {}
    }

    /// From here on every step waits until the loop turns, however long this thread is kept from going on.
    private static func fill(_ scheduler: HandshakeScheduler) {
        while scheduler.counters.delayed == 0 {
            scheduler.perform(.authenticated, from: .loopback) { burn(.milliseconds(4)) }
        }
    }

    @Test func `a crowd waits in order, the authenticated first`() throws {
        let loop = try EventLoop()
        let scheduler = HandshakeScheduler.of(loop)
        var order: [String] = []
        Self.fill(scheduler)
        for index in 0..<3 { scheduler.perform(.anonymous, from: .loopback) { order.append("anonymous \(index)") } }
        for index in 0..<3 { scheduler.perform(.authenticated, from: .loopback) { order.append("authenticated \(index)") } }
        #expect(order.isEmpty)
        #expect(loop.run(until: { order.count == 6 }, within: .seconds(120)))
        #expect(order == (0..<3).map { "authenticated \($0)" } + (0..<3).map { "anonymous \($0)" })
        #expect(scheduler.counters.delayed == 1 + 6)
    }

    @Test func `a loop that has had handshakes is freed`() throws {
        weak var freed: EventLoop?
        do {
            let loop = try EventLoop()
            freed = loop
            var done = 0
            // The second one waits for its turn, by a timer.
            HandshakeScheduler.of(loop).perform(.anonymous, from: .loopback) { Self.burn(.milliseconds(4)) }
            HandshakeScheduler.of(loop).perform(.anonymous, from: .loopback) { done += 1 }
            #expect(loop.run(until: { done == 1 }, within: .seconds(120)))
        }
        #expect(freed == nil)
    }

    @Test func `who answered us goes before who only said hello`() throws {
        let loop = try EventLoop()
        let scheduler = HandshakeScheduler.of(loop)
        var order: [HandshakePriority] = []
        Self.fill(scheduler)
        for priority in HandshakePriority.allCases.reversed() {
            scheduler.perform(priority, from: .loopback) { order.append(priority) }
        }
        #expect(loop.run(until: { order.count == 3 }, within: .seconds(120)))
        #expect(order == HandshakePriority.allCases)
    }

    @Test func `a crowd from one address stands in its own way only`() throws {
        let loop = try EventLoop()
        let scheduler = HandshakeScheduler.of(loop)
        let addresses = try (1...3).map { try #require(IPAddress("192.0.2.\($0)")) }
        var order: [Int] = []
        Self.fill(scheduler)
        for _ in 0..<1_000 { scheduler.perform(.anonymous, from: addresses[0]) { order.append(0) } }
        for index in 1...2 { scheduler.perform(.anonymous, from: addresses[index]) { order.append(index) } }
        #expect(loop.run(until: { order.count >= 1_002 }, within: .seconds(120)))
        #expect(order.prefix(4) == [0, 1, 2, 0])
    }

    @Test func `every step is told, with its wait and its cost`() throws {
        let loop = try EventLoop()
        let scheduler = HandshakeScheduler.of(loop)
        var told: [(waited: Duration, cost: Duration)] = []
        scheduler.onStep = { told.append(($0, $1)) }
        Self.fill(scheduler)
        let (count, asked) = (told.count, EventLoop.monotonicNow())
        Self.burn(.milliseconds(4))
        let waited = EventLoop.monotonicNow() - asked
        #expect(loop.run(until: { told.count > count }, within: .seconds(120)))
        #expect(count > 0 && told.allSatisfy { $0.cost >= .milliseconds(4) })
        #expect(told[count].waited >= waited)
    }

    @Test func `the line has an end`() throws {
        let loop = try EventLoop()
        // It does not keep its loop.
        defer { withExtendedLifetime(loop) {} }
        let scheduler = HandshakeScheduler.of(loop)
        Self.fill(scheduler)
        let before = scheduler.counters.steps
        let accepted = (0..<5_000).filter { _ in scheduler.perform(.anonymous, from: .loopback) {} }
        #expect(accepted.count == HandshakeScheduler.maximumWaiting)
        #expect(scheduler.counters.refused == 5_000 - HandshakeScheduler.maximumWaiting)
        #expect(
            loop.run(until: { scheduler.counters.steps - before == 1 + accepted.count }, within: .seconds(120)),
            "who stood in it gets in")
    }

    @Test func `a line of strangers that is full turns no publisher away`() throws {
        let loop = try EventLoop()
        defer { withExtendedLifetime(loop) {} }
        let scheduler = HandshakeScheduler.of(loop)
        Self.fill(scheduler)
        for _ in 0..<5_000 { scheduler.perform(.anonymous, from: .loopback) {} }
        var order: [HandshakePriority] = []
        #expect(scheduler.perform(.begun, from: .loopback) { order.append(.begun) })
        #expect(scheduler.perform(.authenticated, from: .loopback) { order.append(.authenticated) })
        #expect(loop.run(until: { order.count == 2 }, within: .seconds(120)))
        #expect(order == [.authenticated, .begun])
    }

    @Test func `two hundred TLS handshakes at once leave the loop to others`() throws {
        let loop = try EventLoop()
        let material = try TestTLS.material()
        let server = try Server(loop: loop, tls: material.server)
        var opened = 0
        server.prepare = { $0.onOpen = { opened += 1 } }
        let address = server.address
        let crowd = try WorkerThread.start(name: "crowd") {
            do {
                let loop = try EventLoop()
                let clients = try (0..<200).map { _ in
                    Client(try TCPStream(loop: loop, connectingTo: address, tls: material.client, serverName: "localhost"))
                }
                #expect(loop.run(until: { clients.allSatisfy(\.isOpen) }, within: .seconds(60)))
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(server.wait { opened == 200 })
        let counters = HandshakeScheduler.of(loop).counters
        #expect(counters.steps >= 400)
        #expect(counters.refused == 0)
        crowd.join()
    }
}

@Suite("Handshake budget")
struct HandshakeBudgetTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test func `no window of 20 ms sees more than 4 ms, whatever is asked for`() {
        var budget = HandshakeBudget()
        var now = Self.start
        var spendings: [(MonotonicTime, Duration)] = []
        // Steps of 400 µs, asked for all the time during a second.
        while now < Self.start + .seconds(1) {
            if budget.isOpen(at: now) {
                now = now + .microseconds(400)
                budget.spend(.microseconds(400), at: now)
                spendings.append((now, .microseconds(400)))
            } else {
                now = max(now + .microseconds(1), budget.opening(after: now))
            }
        }
        for (end, _) in spendings {
            let inWindow = spendings.filter { $0.0 > end - .milliseconds(20) && $0.0 <= end }
            #expect(inWindow.reduce(.zero) { $0 + $1.1 } <= HandshakeBudget.share)
        }
        // And it is not more careful than it need be: 3.6 ms in each 20.4 ms are nine steps.
        #expect(spendings.reduce(.zero) { $0 + $1.1 } > .milliseconds(170))
    }

    @Test func `it opens when it said it would`() {
        var budget = HandshakeBudget()
        var now = Self.start
        while budget.isOpen(at: now) {
            now = now + .milliseconds(1)
            budget.spend(.microseconds(900), at: now)
        }
        let opening = budget.opening(after: now)
        #expect(opening > now)
        let (isOpenBefore, isOpenThen) = (budget.isOpen(at: opening - .microseconds(1)), budget.isOpen(at: opening))
        #expect(!isOpenBefore)
        #expect(isOpenThen)
    }

    @Test func `one long step closes it for a window, not for ever`() {
        var budget = HandshakeBudget()
        budget.spend(.milliseconds(50), at: Self.start)
        let states = [19, 20].map { budget.isOpen(at: Self.start + .milliseconds($0)) }
        #expect(states == [false, true])
    }
}
