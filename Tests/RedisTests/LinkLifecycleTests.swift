import TestSupport
import Testing
import Wire

@testable import Redis

@Suite("Link lifecycle and backoff")
struct LinkLifecycleTests {
    let clock = FakeClock()

    static func candidate(_ port: UInt16) -> ServerCandidate {
        ServerCandidate(address: SocketAddress(.loopback, port: port), name: nil)
    }

    /// A lifecycle with a connection that stands.
    func established() -> LinkLifecycle {
        var lifecycle = LinkLifecycle(limits: RedisLimits())
        #expect(lifecycle.start() == .search)
        #expect(lifecycle.found([Self.candidate(1)], chance: 0) == .connect(Self.candidate(1)))
        lifecycle.established(at: clock.now)
        #expect(lifecycle.isUp)
        return lifecycle
    }

    @Test func `pauses double up to the longest, and chance takes up to half of each`() {
        var backoff = Backoff(shortest: .milliseconds(50), longest: .seconds(2))
        let whole = (0..<8).map { _ in backoff.next(chance: 1) }
        #expect(whole == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
        #expect(backoff.next(chance: 0) == .seconds(1))
        for _ in 0..<100 { #expect(backoff.next(chance: 0.5) == .milliseconds(1_500)) }
        backoff.reset()
        #expect(backoff.next(chance: 0) == .milliseconds(25))
    }

    @Test func `every candidate is tried once before the pause, then the search begins anew`() {
        var lifecycle = LinkLifecycle(limits: RedisLimits())
        #expect(lifecycle.start() == .search)
        #expect(lifecycle.start() == .nothing)
        #expect(lifecycle.found([Self.candidate(1), Self.candidate(2)], chance: 0) == .connect(Self.candidate(1)))
        #expect(lifecycle.failed(at: clock.now, chance: 0) == .connect(Self.candidate(2)))
        #expect(lifecycle.failed(at: clock.now, chance: 0) == .pause(.milliseconds(25)))
        #expect(lifecycle.failed(at: clock.now, chance: 0) == .nothing)
        #expect(lifecycle.paused() == .search)
        #expect(lifecycle.found([], chance: 0) == .pause(.milliseconds(50)))
    }

    @Test func `a connection that stood long is searched again at once, a short one after a pause that grows`() {
        var steady = established()
        clock.advance(by: LinkLifecycle.steadyTime)
        #expect(steady.failed(at: clock.now, chance: 0) == .search)

        var flapping = established()
        for pause in [25, 50, 100, 200] {
            #expect(flapping.failed(at: clock.now, chance: 0) == .pause(.milliseconds(pause)))
            #expect(!flapping.isUp)
            #expect(flapping.paused() == .search)
            _ = flapping.found([Self.candidate(1)], chance: 0)
            flapping.established(at: clock.now)
        }
    }

    @Test func `news of a server end the pause, and change nothing while a connection stands or is tried`() {
        var lifecycle = established()
        #expect(lifecycle.hurry() == .nothing)
        _ = lifecycle.failed(at: clock.now, chance: 0)
        #expect(lifecycle.hurry() == .search)
        #expect(lifecycle.hurry() == .nothing)
    }

    @Test func `after close nothing is done any more`() {
        var lifecycle = established()
        lifecycle.close()
        #expect(lifecycle.failed(at: clock.now, chance: 0) == .nothing)
        #expect(lifecycle.paused() == .nothing)
        #expect(lifecycle.found([Self.candidate(1)], chance: 0) == .nothing)
        #expect(lifecycle.hurry() == .nothing)
        #expect(lifecycle.start() == .nothing)
    }
}
