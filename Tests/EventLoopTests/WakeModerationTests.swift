import Glibc
import Testing
import Wire

@testable import EventLoop

@Suite("WakeModeration")
struct WakeModerationTests {
    /// Turns at an even rate from 1 s on, each taking no time; how many of them in each second, and the longest rest.
    private func run(eventsPerSecond: Int64, seconds: Int64) -> (turns: [Int], longestRest: Duration) {
        var moderation = WakeModeration()
        var turns = [Int](repeating: 0, count: Int(seconds))
        var longestRest = Duration.zero
        var now: Int64 = 1_000_000_000
        let (end, interval) = (now + seconds * 1_000_000_000, 1_000_000_000 / eventsPerSecond)
        while now < end {
            turns[Int((now - 1_000_000_000) / 1_000_000_000)] += 1
            let next = moderation.turnEnded(startedAt: MonotonicTime(nanoseconds: now))
            if let next { longestRest = max(longestRest, .nanoseconds(next.nanoseconds - now)) }
            // The next event comes on its beat, and is served when the rest is over.
            now = max((now / interval + 1) * interval, next?.nanoseconds ?? 0)
        }
        return (turns, longestRest)
    }

    @Test(arguments: [Int64(50), 500, 1_000, 1_400])
    func `below 1,500 events a second every event is served at once`(rate: Int64) {
        let (turns, rest) = run(eventsPerSecond: rate, seconds: 5)
        #expect(rest == .zero)
        #expect(turns.allSatisfy { abs($0 - Int(rate)) <= 1 })
    }

    @Test(arguments: [Int64(1_800), 4_000, 20_000])
    func `above, there are some hundred turns a second, and no rest is longer than 2 ms`(rate: Int64) {
        let (turns, rest) = run(eventsPerSecond: rate, seconds: 5)
        #expect(rest == WakeModeration.turnInterval)
        #expect(turns.allSatisfy { $0 < 850 })
    }

    @Test
    func `few turns that serve several events each are moderated as many that serve one`() {
        var moderation = WakeModeration()
        var rests = 0
        for turn in 0..<900 as Range<Int64> {
            let start = MonotonicTime(nanoseconds: 1_000_000_000 + turn * 1_000_000_000 / 900)
            if let end = moderation.turnEnded(startedAt: start, served: 2) {
                #expect(end == start + WakeModeration.turnInterval)
                rests += 1
            }
        }
        #expect(rests > 700, "all but the first free window")
    }

    @Test
    func `a loop that has become quiet is served at once again within a second`() {
        var moderation = WakeModeration()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        for _ in 0..<200 {
            _ = moderation.turnEnded(startedAt: now)
            now = now + .microseconds(100)
        }
        #expect(moderation.turnEnded(startedAt: now) != nil)
        #expect(moderation.turnEnded(startedAt: now + .seconds(1)) == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `what a turn left unread does not wait for the next 2 ms`() throws {
        let loop = try EventLoop()
        loop.moderatesWakeUps = true
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let count = 20_000
        #expect(write(ends[1], [UInt8](repeating: 0, count: count), count) == count)
        var read = 0
        let watch = loop.watch(descriptor: ends[0], for: .read, priority: .media) {
            var byte: UInt8 = 0
            read += Glibc.read(ends[0], &byte, 1)
            loop.leftMore()
        }
        defer { watch.cancel() }
        // With rests it would take 40 s.
        #expect(loop.run(until: { read == count }, within: .seconds(10)))
    }

    @Test(.timeLimit(.minutes(1)))
    func `timers of a moderated loop are as punctual as ever`() throws {
        let loop = try EventLoop()
        loop.moderatesWakeUps = true
        var fired = 0
        let busy = loop.schedule(after: .microseconds(200), repeating: .microseconds(200)) { fired += 1 }
        defer { busy.cancel() }
        #expect(loop.run(until: { fired >= 1_000 }, within: .seconds(10)))
        // 5,000 a second, each bringing a turn: none of them may be held for 2 ms.
        #expect(loop.statistics.turns >= 500)
    }
}
