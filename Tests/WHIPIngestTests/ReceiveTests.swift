import Admission
import RTCP
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Loss tracking")
struct LossTrackerTests {
    static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    @Test func `asks for a gap after three packets or 10 ms, then once per round trip, five times`() {
        var tracker = LossTracker()
        for number in [1, 2, 4] as [Int64] { _ = tracker.received(number, at: Self.time(0)) }
        let result1 = tracker.requests(at: Self.time(5))
        #expect(result1 == [])
        let result2 = tracker.requests(at: Self.time(11))
        #expect(result2 == [3])
        let result3 = tracker.requests(at: Self.time(50))
        #expect(result3 == [])
        let asked = stride(from: 111, through: 1_500, by: 100).flatMap { tracker.requests(at: Self.time(Int64($0))) }
        #expect(asked == [3, 3, 3, 3])
        let result4 = tracker.takeLost()
        #expect(result4 == 1)
    }

    @Test func `does not ask for what was only reordered`() {
        var tracker = LossTracker()
        _ = tracker.received(1, at: Self.time(0))
        _ = tracker.received(3, at: Self.time(1))
        let result5 = tracker.received(2, at: Self.time(4))
        #expect(result5 == .late(wasAsked: false, age: .milliseconds(3)))
        let result6 = tracker.requests(at: Self.time(20))
        #expect(result6 == [])
        let result7 = tracker.received(2, at: Self.time(5))
        #expect(result7 == .duplicate)
    }

    @Test func `learns the round trip from answers`() throws {
        var tracker = LossTracker()
        for number in Int64(0)..<400 {
            let start = number * 100
            _ = tracker.received(number * 5, at: Self.time(start))
            _ = tracker.received(number * 5 + 4, at: Self.time(start))
            for lost in tracker.requests(at: Self.time(start + 15)) {
                let extended = number * 5 + (Int64(lost) - number * 5 & 0xFFFF)
                _ = tracker.received(extended, at: Self.time(start + 35))
            }
        }
        #expect(try #require(tracker.roundTrip) < .milliseconds(25))
    }

    @Test func `begins anew after a jump beyond its bookkeeping`() {
        var tracker = LossTracker()
        _ = tracker.received(1, at: Self.time(0))
        let result8 = tracker.received(5_000, at: Self.time(1))
        #expect(result8 == .restarted)
        #expect(tracker.missingCount == 0)
        let lost = tracker.takeLost()
        #expect(lost == 4_998, "the jump is a loss")
    }

    @Test func `does not know the round trip before the first answer to a first request`() {
        var tracker = LossTracker()
        for number in [1, 3] as [Int64] { _ = tracker.received(number, at: Self.time(0)) }
        for time in [11, 111] as [Int64] { _ = tracker.requests(at: Self.time(time)) }
        let arrival = tracker.received(2, at: Self.time(140))
        #expect(arrival == .late(wasAsked: true, age: .milliseconds(140)))
        #expect(tracker.roundTrip == nil, "which of the two requests was answered?")
    }

    @Test func `holds at most 512 missing packets`() {
        var tracker = LossTracker()
        for number in Int64(0)..<4_000 where number % 2 == 0 { _ = tracker.received(number, at: Self.time(0)) }
        #expect(tracker.missingCount == LossTracker.maximumMissing)
    }

    /// Seeds of random loss; each lost packet is answered after 30 ms unless the answer is lost too.
    @Test(arguments: [(1, 999), (5, 995), (10, 990)])
    func `recovers what a lossy link drops`(_ percent: UInt64, _ perMille: Int) {
        var (tracker, generator) = (LossTracker(), SplitMix64(seed: percent))
        var answers: [(due: Int64, number: Int64)] = []
        var arrived = 0
        let count: Int64 = 20_000
        for number in 0..<count {
            let now = number * 2
            while let answer = answers.first, answer.due <= now {
                answers.removeFirst()
                if case .late = tracker.received(answer.number, at: Self.time(now)) { arrived += 1 }
            }
            if generator.next() % 100 >= percent || number == 0 {
                _ = tracker.received(number, at: Self.time(now))
                arrived += 1
            }
            for lost in tracker.requests(at: Self.time(now)) where generator.next() % 100 >= percent {
                let extended = number - Int64(UInt16(truncatingIfNeeded: number) &- lost)
                answers.append((now + 30, extended))
            }
        }
        #expect(arrived * 1_000 >= Int(count) * perMille)
    }
}

@Suite("Receiver feedback")
struct ReceiverFeedbackTests {
    @Test func `reports loss and jitter as RFC 3550 computes them`() {
        var statistics = SourceStatistics()
        for number in 0..<100 where number % 10 != 5 {
            statistics.received(
                Int64(number), timestamp: UInt32(number * 3_000),
                arrival: MonotonicTime(nanoseconds: 5_000_000_000 + Int64(number) * 33_333_333), clockRate: 90_000)
        }
        let block = statistics.report(of: 7, at: .zero)
        #expect(block.cumulativeLost == 10 && block.extendedHighestSequenceNumber == 99)
        #expect(block.fractionLost == 25)
        #expect(block.jitter <= 2)
        let result9 = statistics.report(of: 7, at: .zero).fractionLost
        #expect(result9 == 0)
    }

    @Test func `tells of each transport-wide number once`() throws {
        var arrivals = TransportArrivals()
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        for number in [65_534, 65_535, 1, 2] as [UInt16] {
            arrivals.received(number, at: now)
            now = now + .milliseconds(1)
        }
        let first = arrivals.feedback(at: now, senderSSRC: 1, mediaSSRC: 2)
        let feedback = try #require(first)
        #expect(feedback.baseSequenceNumber == 65_534 && feedback.arrivalDeltas.count == 5)
        #expect(feedback.arrivalDeltas[2] == nil && feedback.arrivalDeltas[3] == 4)
        arrivals.received(3, at: now + .milliseconds(100))
        let second = arrivals.feedback(at: now + .milliseconds(200), senderSSRC: 1, mediaSSRC: 2)
        let next = try #require(second)
        #expect(next.baseSequenceNumber == 3 && next.feedbackCount == 1)
        var writer = ByteWriter()
        next.write(into: &writer)
        #expect(writer.count % 4 == 0)
    }

    @Test func `asks for keyframes with growing pauses and gives up after three`() {
        var requests = KeyframeRequests()
        requests.want()
        let times = stride(from: 0, through: 20_000, by: 100).filter { requests.isDue(at: LossTrackerTests.time(Int64($0))) }
        #expect(times == [0, 1_000, 3_000])
        #expect(requests.isDeaf)
        requests.keyframeCame(at: LossTrackerTests.time(20_000))
        requests.want()
        let isDue = requests.isDue(at: LossTrackerTests.time(30_000))
        #expect(!requests.isDeaf && isDue)
    }
}

@Suite("Keyframes of encoders that cannot be asked")
struct KeyframeProbeTests {
    /// Keyframes every so many milliseconds, and how long after a request one comes; nil: never.
    @Test(
        arguments: [
            (2_000, nil, false), (4_167, nil, true), (8_333, nil, true), (60_000, 300, false), (8_333, 1_300, false),
        ] as [(Int64, Int64?, Bool)])
    func `are found by asking twice at most`(_ interval: Int64, _ answer: Int64?, _ isIgnoring: Bool) {
        var requests = KeyframeRequests()
        var (sent, lastKeyframe, answerAt) = ([Int64](), Int64(0), Int64?.none)
        for time in stride(from: Int64(0), through: 60_000, by: 10) {
            if time - lastKeyframe >= interval || time == 0 || answerAt.map({ time >= $0 }) == true {
                (lastKeyframe, answerAt) = (time, nil)
                requests.keyframeCame(at: LossTrackerTests.time(time))
            }
            guard requests.isDue(at: LossTrackerTests.time(time)) else { continue }
            sent.append(time)
            if let answer, answerAt == nil { answerAt = time + answer }
        }
        #expect(requests.ignoresRequests == isIgnoring)
        #expect(sent.count <= 6, "\(sent)")
        #expect(sent.isEmpty == (interval == 2_000))
    }
}

@Suite("Flap guard")
struct TakeoverGuardTests {
    @Test func `the incumbent stays after three takeovers between different addresses in a minute`() {
        var flaps = TakeoverGuard()
        let (p, elsewhere) = (ParticipantKey("p", onStage: "s"), ParticipantKey("p", onStage: "another"))
        let (a, b) = (IPAddress("192.0.2.1")!, IPAddress("192.0.2.2")!)
        let start = MonotonicTime(nanoseconds: 1)
        for index in 0..<3 {
            let result10 = flaps.allows(p, from: a, now: start)
            #expect(result10)
            flaps.record(p, from: index % 2 == 0 ? a : b, by: index % 2 == 0 ? b : a, now: start)
        }
        let result11 = flaps.allows(p, from: a, now: start + .seconds(1))
        #expect(!result11)
        let result12 = flaps.allows(p, from: b, now: start + .seconds(1))
        #expect(result12, "the incumbent itself may come again")
        let result13 = flaps.allows(p, from: a, now: start + .seconds(61))
        #expect(result13)
        let result14 = flaps.allows(elsewhere, from: a, now: start)
        #expect(result14)
    }
}

extension LossTracker {
    mutating func requests(at now: MonotonicTime) -> [UInt16] {
        var numbers: [UInt16] = []
        due(at: now, into: &numbers)
        return numbers
    }
}
