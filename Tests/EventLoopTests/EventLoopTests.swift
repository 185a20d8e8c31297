import EventLoop
import Glibc
import Testing
import Wire

@Suite("One loop on one thread")
struct EventLoopTests {
    @Test(.timeLimit(.minutes(10)))
    func `timers fire in the order of their deadlines, never early`() throws {
        let loop = try EventLoop()
        let start = EventLoop.monotonicNow()
        var fired: [(Int, Duration)] = []
        let timers = [30, 10, 20, 10].enumerated().map { index, delay in
            loop.schedule(after: .milliseconds(delay)) { fired.append((index, EventLoop.monotonicNow() - start)) }
        }
        #expect(loop.run(until: { fired.count == 4 }, within: .seconds(60)))
        #expect(fired.map(\.0) == [1, 3, 2, 0])
        #expect(zip(fired.map(\.1), [10, 10, 20, 30]).allSatisfy { $0 >= .milliseconds($1) })
        #expect(timers.count == 4)
    }

    @Test(.timeLimit(.minutes(10)))
    func `what was gathered in a turn goes at its end`() throws {
        let loop = try EventLoop()
        var (gathered, gone) = (0, [Int]())
        loop.atTurnEnd { [unowned loop] in
            #expect(loop.isInTurn)
            if gathered > 0 { gone.append(gathered) }
            gathered = 0
        }
        #expect(!loop.isInTurn)
        let timers = [0, 0, 30].map { delay in loop.schedule(after: .milliseconds(delay)) { gathered += 1 } }
        #expect(loop.run(until: { gone.reduce(0, +) == 3 }, within: .seconds(60)))
        #expect(gone.last == 1 && !loop.isInTurn)
        #expect(timers.count == 3)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a repeating timer goes on until its watch is dropped, also by itself`() throws {
        let loop = try EventLoop()
        var count = 0
        var timer: Watch?
        timer = loop.schedule(after: .zero, repeating: .milliseconds(1)) {
            count += 1
            if count == 5 { timer = nil }
        }
        #expect(loop.run(until: { count == 5 }, within: .seconds(60)))
        #expect(!loop.run(until: { count > 5 }, within: .milliseconds(50)))
        #expect(timer == nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a dropped or cancelled timer does not fire`() throws {
        let loop = try EventLoop()
        var fired = 0
        _ = loop.schedule(after: .milliseconds(1)) { fired += 1 }
        let cancelled = loop.schedule(after: .milliseconds(1)) { fired += 1 }
        cancelled.cancel()
        #expect(!cancelled.isActive)
        #expect(!loop.run(until: { fired > 0 }, within: .milliseconds(30)))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a timer rearmed in time does not fire, and fires later once it is not`() throws {
        let loop = try EventLoop()
        var fired = 0
        var fed = 0
        let watchdog = loop.schedule(after: .milliseconds(40)) { fired += 1 }
        let feeder = loop.schedule(after: .milliseconds(5), repeating: .milliseconds(5)) {
            fed += 1
            if fed <= 20 { watchdog.rearm(after: .milliseconds(40)) }
            if fed == 20 { #expect(fired == 0) }
        }
        #expect(loop.run(until: { fired == 1 }, within: .seconds(60)))
        #expect(fed >= 20)
        watchdog.rearm(after: .milliseconds(1))
        #expect(loop.run(until: { fired == 2 }, within: .seconds(60)))
        feeder.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a timer that restarts itself without delay lets others run`() throws {
        let loop = try EventLoop()
        var spins = 0
        var spinner: TimerWatch?
        spinner = loop.schedule(after: .zero) {
            spins += 1
            spinner?.rearm(after: .zero)
        }
        var isDone = false
        let other = loop.schedule(after: .milliseconds(5)) { isDone = true }
        #expect(loop.run(until: { isDone }, within: .seconds(60)))
        #expect(spins > 0)
        other.cancel()
        spinner?.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `ten thousand timers keep their order while others leave`() throws {
        let loop = try EventLoop()
        var last = -1
        var fired = 0
        var timers: [TimerWatch?] = []
        // Started in one turn, whose time stands still.
        let start = loop.schedule(after: .zero) {
            timers = (0..<10_000).map { index in
                let delay = (index * 7_919) % 10_000
                return loop.schedule(after: .microseconds(delay)) {
                    #expect(delay > last)
                    last = delay
                    fired += 1
                }
            }
            for index in stride(from: 0, to: timers.count, by: 3) { timers[index] = nil }
        }
        #expect(loop.run(until: { fired == 6_666 }, within: .seconds(120)))
        start.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a suspended descriptor is left alone until it is resumed`() throws {
        let loop = try EventLoop()
        let ends = try Pipe()
        var reads = 0
        let watch = loop.watch(descriptor: ends.reading, for: .read) { reads += ends.drain() }
        watch.suspend()
        ends.write()
        #expect(!loop.run(until: { reads > 0 }, within: .milliseconds(20)))
        watch.resume()
        #expect(loop.run(until: { reads == 1 }, within: .seconds(60)))
        watch.cancel()
        ends.write()
        #expect(!loop.run(until: { reads > 1 }, within: .milliseconds(20)))
    }

    @Test(.timeLimit(.minutes(10)))
    func `media that is always ready goes first but starves nobody`() throws {
        let loop = try EventLoop()
        let (media, request) = (try Pipe(), try Pipe())
        var mediaRuns = 0
        var requestRuns = 0
        media.write()
        request.write()
        let mediaWatch = loop.watch(descriptor: media.reading, for: .read, priority: .media) { mediaRuns += 1 }
        let requestWatch = loop.watch(descriptor: request.reading, for: .read) { requestRuns += request.drain() }
        #expect(loop.run(until: { requestRuns == 1 }, within: .seconds(60)))
        #expect(mediaRuns > 1)
        mediaWatch.cancel()
        requestWatch.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a timer that is always due starves nobody, and a deadline is seen while others wait`() throws {
        let loop = try EventLoop()
        let (request, slow) = (try Pipe(), try Pipe())
        var requestRuns = 0
        request.write()
        slow.write()
        var spinner: TimerWatch?
        spinner = loop.schedule(after: .zero) { spinner?.rearm(after: .zero) }
        let watches = [
            loop.watch(descriptor: request.reading, for: .read) { requestRuns += request.drain() },
            // Takes longer than timers wait, so that something is always due when libevent looks.
            loop.watch(descriptor: slow.reading, for: .read) {
                let end = EventLoop.monotonicNow() + .milliseconds(2)
                while EventLoop.monotonicNow() < end {}
            },
        ]
        #expect(loop.run(until: { requestRuns == 1 }, within: .seconds(60)))
        #expect(!loop.run(until: { requestRuns > 1 }, within: .milliseconds(100)))
        watches.forEach { $0.cancel() }
        spinner?.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `a signal is an event of the loop`() throws {
        let loop = try EventLoop()
        var received = 0
        let watch = loop.watchSignal(SIGUSR2) { received += 1 }
        kill(getpid(), SIGUSR2)
        #expect(loop.run(until: { received == 1 }, within: .seconds(60)))
        watch.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `now stands still within a turn`() throws {
        let loop = try EventLoop()
        var times: [MonotonicTime] = []
        let timer = loop.schedule(after: .zero) {
            times.append(loop.now)
            let until = EventLoop.monotonicNow() + .milliseconds(3)
            while EventLoop.monotonicNow() < until {}
            times.append(loop.now)
        }
        #expect(loop.run(until: { times.count == 2 }, within: .seconds(60)))
        #expect(times[0] == times[1])
        #expect(loop.statistics.busy >= .milliseconds(3))
        timer.cancel()
    }

    @Test(.timeLimit(.minutes(10)))
    func `tolerant timers of all phases share one wake-up, and fire as often as they should`() throws {
        let loop = try EventLoop()
        var fired: [MonotonicTime] = []
        let timers = (0..<10).map { phase in
            loop.schedule(after: .milliseconds(200 + 17 * phase), repeating: .milliseconds(200), tolerance: .milliseconds(200)) {
                fired.append(loop.now)
            }
        }
        #expect(loop.run(until: { fired.count >= 30 }, within: .seconds(120)))
        // Those whose first phase lies behind the first tick begin one tick later.
        #expect(Set(fired).count <= 5)
        #expect(fired.allSatisfy { $0.nanoseconds % 200_000_000 < 100_000_000 || loop.statistics.longestLag > .milliseconds(50) })
        #expect(timers.count == 10)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a loop with nothing to do uses no CPU`() throws {
        let loop = try EventLoop()
        let timers = (0..<1_000).map { _ in loop.schedule(after: .seconds(3_600)) {} }
        let before = EventLoop.threadCPU()
        _ = loop.run(until: { false }, within: .seconds(1))
        #expect(loop.statistics.turns <= 2, "the limit's own, and no other")
        // Nor does it wait by asking again and again: that would take a second.
        #expect(EventLoop.threadCPU() - before < .milliseconds(200))
        #expect(timers.count == 1_000)
    }
}

/// A pipe whose ends are closed at the end of the test.
final class Pipe {
    let reading: CInt
    let writing: CInt

    init() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func write() { _ = Glibc.write(writing, "x", 1) }

    func drain() -> Int {
        var byte: UInt8 = 0
        return read(reading, &byte, 1)
    }
}
