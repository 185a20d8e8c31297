import StageHub
import Testing
import Wire

@testable import RedundantIngest

@Suite("Which of two encoders is the source")
struct SourceChoiceTests {
    private typealias Level = SourceHealth.Level

    private let begin = MonotonicTime(nanoseconds: 1_000_000_000)

    /// A choice whose source is encoder 1 since `begin`.
    private var choice: SourceChoice {
        var choice = SourceChoice()
        choice.switched(to: 1, at: begin)
        return choice
    }

    private func wanted(_ choice: SourceChoice, after time: Duration = .seconds(20), _ levels: [Int: SourceHealth.Level])
        -> SourceChoice.Switch?
    {
        choice.wanted(at: begin + time) { levels[$0] }
    }

    @Test(arguments: [
        ([1: SourceHealth.Level.well], 1), ([1: .poor, 2: .well], 2), ([1: .well, 2: .well], 1), ([1: .still, 2: .poor], 2),
    ])
    func `the first source is whoever is healthier, by number where both are alike`(
        levels: [Int: SourceHealth.Level], encoder: Int
    ) {
        #expect(wanted(SourceChoice(), levels) == .init(encoder: encoder, reason: .begin))
    }

    @Test func `nobody is the source while nothing comes`() {
        #expect(wanted(SourceChoice(), [:]) == nil)
        #expect(wanted(SourceChoice(), [1: .still]) == nil)
    }

    @Test(arguments: [
        (SourceHealth.Level.well, SourceHealth.Level.well, SourceChoice.Reason?.none), (.poor, .poor, nil), (.well, .still, nil),
        (.still, .still, nil), (.poor, .well, .health), (.still, .poor, .stall), (.still, .well, .stall),
    ])
    func `the source is left when it stands still, or is poor beside one that is well`(
        own: SourceHealth.Level, other: SourceHealth.Level, reason: SourceChoice.Reason?
    ) {
        #expect(wanted(choice, [1: own, 2: other])?.reason == reason)
    }

    @Test func `nothing but a standstill leaves a source within ten seconds`() {
        #expect(wanted(choice, after: .seconds(9), [1: .poor, 2: .well]) == nil)
        #expect(wanted(choice, after: .seconds(9), [1: .still, 2: .well])?.reason == .stall)
        #expect(wanted(choice, after: .seconds(10), [1: .poor, 2: .well])?.reason == .health)
    }

    @Test(arguments: [SourceChoice.Reason.end, .breach])
    func `who has gone is replaced at once, and the reason is why it went`(reason: SourceChoice.Reason) {
        var choice = choice
        choice.gone(1, because: reason)
        #expect(wanted(choice, after: .zero, [2: .well]) == .init(encoder: 2, reason: reason))
        choice.gone(2, because: .end)
        #expect(wanted(choice, after: .zero, [2: .well])?.reason == reason, "the other one was not the source")
    }

    @Test func `an operator's wish holds until it is fulfilled or its encoder goes`() {
        var choice = choice
        choice.ordered(2)
        #expect(wanted(choice, after: .zero, [1: .well, 2: .poor]) == .init(encoder: 2, reason: .operator))
        #expect(wanted(choice, after: .zero, [1: .well, 2: .still]) == nil)
        choice.switched(to: 2, at: begin)
        #expect(wanted(choice, [1: .well, 2: .well]) == nil)
        choice.ordered(1)
        choice.gone(1, because: .end)
        #expect(wanted(choice, [1: .well, 2: .well]) == nil)
    }
}

@Suite("An encoder's last two seconds")
struct SourceHealthTests {
    private let begin = MonotonicTime(nanoseconds: 5_000_000_000)

    /// Pictures and sound for so many seconds, 30 and 50 a second.
    private func health(
        seconds: Double, rate: Double = 1, without missing: Range<Double>? = nil, sound: Bool = true
    ) -> (SourceHealth, MonotonicTime) {
        var health = SourceHealth()
        var now = begin
        for frame in 0..<Int(seconds * 30) {
            let time = Double(frame) / 30
            now = begin + .seconds(time)
            if missing?.contains(time) != true { health.arrived(.video, Int64(time * rate * 1e9), at: now) }
            if sound { health.arrived(.audio, Int64(time * rate * 1e9), at: now) }
        }
        return (health, now)
    }

    @Test(arguments: [(0.5, 1.0, SourceHealth.Level.poor), (1.5, 1, .well), (30, 1, .well), (30, 1.2, .well), (30, 0.7, .poor)])
    func `media that keeps its rate for a second is well`(seconds: Double, rate: Double, level: SourceHealth.Level) {
        let (health, now) = health(seconds: seconds, rate: rate)
        #expect(health.level(at: now) == level)
    }

    /// As on a way that carries nine tenths of it.
    @Test(arguments: [(8.0, SourceHealth.Level.well), (12, .poor)])
    func `media that comes later and later is poor from a second on`(seconds: Double, level: SourceHealth.Level) {
        let (health, now) = health(seconds: seconds, rate: 0.9)
        #expect(health.level(at: now) == level)
    }

    @Test func `pictures that stand still for half a second are still, whatever sound does`() {
        let (health, now) = health(seconds: 3)
        #expect(health.level(at: now + .milliseconds(490)) == .well)
        #expect(health.level(at: now + .milliseconds(510)) == .still)
        #expect(self.health(seconds: 3, without: 2..<3).0.level(at: now) == .still)
    }

    @Test func `missing pictures and missing sound make it poor for a while`() {
        #expect(health(seconds: 3, without: 1.5..<1.9).0.level(at: begin + .seconds(3)) == .poor)
        let (later, now) = health(seconds: 6, without: 1.5..<1.9)
        #expect(later.level(at: now) == .well)
        var mute = health(seconds: 3).0
        for frame in 90..<150 {
            mute.arrived(.video, Int64(frame) * 33_333_333, at: begin + .seconds(Double(frame) / 30))
        }
        #expect(mute.level(at: begin + .seconds(149.0 / 30)) == .poor)
    }

    @Test func `a slow picture rate is given three pictures' time`() {
        var health = SourceHealth()
        for frame in 0..<10 { health.arrived(.video, Int64(frame) * 500_000_000, at: begin + .milliseconds(500 * frame)) }
        #expect(health.level(at: begin + .milliseconds(4_500 + 1_400)) == .well)
        #expect(health.level(at: begin + .milliseconds(4_500 + 1_600)) == .still)
    }

    /// Each timestamp is as far from the last one as 32 bits tell, which is 120 years in two seconds.
    @Test func `a clock that runs as fast as packets come is one that keeps its rate`() {
        var health = SourceHealth()
        let step = TrackID.video.nanoseconds(ofTimestamp: Int64(Int32.max))
        for picture in 0..<160_000 {
            health.arrived(.video, Int64(picture) * step, at: begin + .microseconds(12 * picture))
        }
        #expect(health.level(at: begin + .microseconds(12 * 160_000)) == .well)
    }

    @Test func `a clock that begins anew goes on`() {
        var (health, now) = health(seconds: 5)
        for frame in 0..<30 {
            now = now + .milliseconds(33)
            health.arrived(.video, Int64(frame) * 33_000_000, at: now)
        }
        #expect(health.level(at: now) > .still)
    }
}
