import Glibc
import Testing
import Wire

@testable import EventLoop

@Suite("WakeModeration")
struct WakeModerationTests {
    private static let longest = Duration.milliseconds(4)

    /// What came of events at an even rate from 1 s on, turns taking no time.
    private struct Course {
        /// Of each second.
        var turns: [Int]
        var longestRest = Duration.zero
    }

    private static func wakeUps(_ count: Int, areShared: Bool = false) -> MediaWakeUps {
        var wakeUps = MediaWakeUps()
        for _ in 0..<count { wakeUps.count(isShared: areShared) }
        return wakeUps
    }

    private func run(
        _ moderation: inout WakeModeration, mediaPerSecond rate: Int64, areShared: Bool = false, seconds: Int64,
        from start: Int64 = 1
    ) -> Course {
        var course = Course(turns: [Int](repeating: 0, count: Int(seconds)))
        let (first, interval) = (start * 1_000_000_000, 1_000_000_000 / rate)
        var (now, served) = (first, first - interval)
        while now < first + seconds * 1_000_000_000 {
            course.turns[Int((now - first) / 1_000_000_000)] += 1
            let ready = (now - served) / interval
            served += ready * interval
            let wakeUps = Self.wakeUps(Int(ready), areShared: areShared)
            let end = moderation.turnEnded(startedAt: MonotonicTime(nanoseconds: now), media: wakeUps)
            if let end { course.longestRest = max(course.longestRest, .nanoseconds(end.nanoseconds - now)) }
            // The next event comes on its beat, and is served when the rest is over.
            now = max(served + interval, end?.nanoseconds ?? 0)
        }
        return course
    }

    @Test(arguments: [(Int64(50), false), (500, false), (900, false), (1_240, false), (1_300, true), (1_850, true)])
    func `the wake-ups of 18 streams are served at once, each`(rate: Int64, areShared: Bool) {
        var moderation = WakeModeration(longestRest: Self.longest)
        let course = run(&moderation, mediaPerSecond: rate, areShared: areShared, seconds: 5)
        #expect(course.longestRest == .zero)
        #expect(course.turns.allSatisfy { abs($0 - Int(rate)) <= 1 })
    }

    @Test(arguments: [(Int64(1_350), false), (1_700, false), (2_000, true), (4_000, false), (20_000, true)])
    func `above, a turn comes when the rest is over`(rate: Int64, areShared: Bool) {
        var moderation = WakeModeration(longestRest: Self.longest)
        let course = run(&moderation, mediaPerSecond: rate, areShared: areShared, seconds: 6)
        #expect(course.longestRest == Self.longest)
        // Every 4 ms at least, and freely for a tenth of a second in two.
        #expect(course.turns.dropFirst().allSatisfy { $0 <= 250 + Int(rate) / 10 })
    }

    @Test(arguments: [Duration.microseconds(500), .milliseconds(1), .milliseconds(3)])
    func `nobody waits longer than is allowed`(longest: Duration) {
        for rate in [Int64(1_400), 4_000, 20_000] {
            var moderation = WakeModeration(longestRest: longest)
            let course = run(&moderation, mediaPerSecond: rate, seconds: 4)
            #expect(course.longestRest > .zero && course.longestRest <= longest)
        }
    }

    @Test
    func `few turns that serve several events each are moderated as many that serve one`() {
        var moderation = WakeModeration(longestRest: Self.longest)
        var rests = 0
        for turn in 0..<2_000 as Range<Int64> {
            let start = MonotonicTime(nanoseconds: 1_000_000_000 + turn * 1_000_000_000 / 1_000)
            if let end = moderation.turnEnded(startedAt: start, media: Self.wakeUps(2)) {
                #expect(end - start == Self.longest)
                rests += 1
            }
        }
        #expect(rests > 1_400, "all but the first look")
    }

    @Test(arguments: [Int64(1_000), 20_000, 100_000])
    func `set-ups, requests and timers never make the loop rest, however many they are`(rate: Int64) {
        var moderation = WakeModeration(longestRest: Self.longest)
        for turn in 0..<3 * rate {
            let start = MonotonicTime(nanoseconds: 1_000_000_000 + turn * 1_000_000_000 / rate)
            // Beside the media of 14 streams.
            let media = Self.wakeUps(turn % (rate / 1_000) == 0 ? 1 : 0)
            #expect(moderation.turnEnded(startedAt: start, media: media) == nil)
        }
    }

    @Test
    func `a burst of a quarter of a second is served at once`() {
        var moderation = WakeModeration(longestRest: Self.longest)
        let burst = (0..<600).allSatisfy { event in
            let start = MonotonicTime(nanoseconds: 1_000_000_000) + .microseconds(410) * event
            return moderation.turnEnded(startedAt: start, media: Self.wakeUps(1)) == nil
        }
        #expect(burst)
        #expect(run(&moderation, mediaPerSecond: 1_000, seconds: 5, from: 2).longestRest == .zero)
    }

    @Test
    func `a rate that wavers about the threshold stays moderated`() {
        var moderation = WakeModeration(longestRest: Self.longest)
        #expect(run(&moderation, mediaPerSecond: 2_000, seconds: 2).longestRest > .zero)
        #expect(run(&moderation, mediaPerSecond: 1_150, seconds: 8, from: 3).turns.allSatisfy { $0 < 450 })
    }

    @Test
    func `a loop that has become calmer is served at once again within three seconds`() {
        var moderation = WakeModeration(longestRest: Self.longest)
        #expect(run(&moderation, mediaPerSecond: 2_000, seconds: 2).longestRest > .zero)
        #expect(run(&moderation, mediaPerSecond: 1_000, seconds: 3, from: 3).longestRest > .zero)
        #expect(run(&moderation, mediaPerSecond: 1_000, seconds: 5, from: 6).longestRest == .zero)
    }

    @Test(.timeLimit(.minutes(10)))
    func `what a turn left unread does not wait for a rest to end`() throws {
        let loop = try EventLoop()
        loop.longestRest = Self.longest
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
        #expect(loop.run(until: { read == count }, within: .seconds(60)))
    }

    @Test(.timeLimit(.minutes(10)))
    func `who asks, is answered and asks again is not slowed`() throws {
        let loop = try EventLoop()
        loop.longestRest = Self.longest
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var byte: UInt8 = 0
        var answers = 0
        let watch = loop.watch(descriptor: ends[0], for: .read) {
            answers += Glibc.read(ends[0], &byte, 1)
            _ = write(ends[1], &byte, 1)
        }
        defer { watch.cancel() }
        _ = write(ends[1], &byte, 1)
        // With rests it would take 40 s.
        #expect(loop.run(until: { answers == 20_000 }, within: .seconds(120)))
    }

    @Test(.timeLimit(.minutes(10)))
    func `timers of a moderated loop are as punctual as ever`() throws {
        let loop = try EventLoop()
        loop.longestRest = Self.longest
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        // Always ready.
        #expect(write(ends[1], [0 as UInt8], 1) == 1)
        var runs = 0
        let media = loop.watch(descriptor: ends[0], for: .read, priority: .media) { runs += 1 }
        defer { media.cancel() }
        #expect(loop.run(until: { runs > 2_000 }, within: .seconds(120)))
        var (fired, punctual) = (0, 0)
        var last = EventLoop.monotonicNow()
        let timer = loop.schedule(after: .microseconds(200), repeating: .microseconds(200)) {
            if loop.now - last < .milliseconds(1) { punctual += 1 }
            (fired, last) = (fired + 1, loop.now)
        }
        defer { timer.cancel() }
        #expect(loop.run(until: { fired >= 1_000 }, within: .seconds(120)))
        // Rests are 4 ms; a busy machine may be late now and then.
        #expect(punctual > 250)
    }
}
