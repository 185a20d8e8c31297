import RTCP
import StageHub
import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter

/// Viewers on ways wide and narrow, cut and restored, on a simulated clock.
@Suite("Viewer's adaptation")
struct ViewerAdaptationTests {
    typealias Layers = LayerChooserTests

    /// When the layer became `track` for the first time after `time`.
    func first(_ track: TrackID?, after time: Duration = .zero, on link: SimulatedLink) -> Duration? {
        link.changes.first { $0.time >= time && $0.track == track }?.time
    }

    @Test func `what was lost long ago is not held against the few that are sent now`() {
        var loss = LossControl(bitsPerSecond: 100_000)
        for step in 0...2 as ClosedRange<Int64> { loss.note(expected: 40, lost: 20, at: .zero + .milliseconds(step * 400)) }
        #expect(loss.isHeavy)
        loss.note(expected: 6, lost: 0, at: .zero + .milliseconds(900))
        #expect(loss.isHeavy, "too few, too soon")
        loss.note(expected: 6, lost: 0, at: .zero + .seconds(4))
        #expect(loss.isLight)
    }

    @Test func `five megabits have hi within five seconds and keep it`() throws {
        let link = SimulatedLink(.init(bitsPerSecond: 5_000_000))
        link.run(for: .seconds(60))
        let reached = try #require(first(Layers.hi, on: link))
        #expect(reached <= .seconds(5) && link.track == Layers.hi, "\(link.changes)")
        #expect(link.changes.count <= 3, "\(link.changes)")
    }

    @Test func `600 kilobits with 50 ms of delay and a hundredth of loss hold low, without a swing`() {
        let link = SimulatedLink(.init(bitsPerSecond: 600_000, delay: .milliseconds(50), loss: 0.01))
        link.run(for: .seconds(120))
        #expect(
            link.changes.map(\.track) == [.video, Layers.low] || link.changes.map(\.track) == [Layers.low], "\(link.changes)")
    }

    @Test(arguments: [1_200_000, 1_500_000])
    func `between mid and hi it holds mid`(_ bitsPerSecond: Int) {
        let link = SimulatedLink(.init(bitsPerSecond: bitsPerSecond, delay: .milliseconds(30)))
        link.run(for: .seconds(120))
        #expect(link.track == Layers.mid, "\(link.changes)")
        let settled = link.changes.filter { $0.time > .seconds(10) }
        #expect(settled.count <= 4, "\(settled)")
    }

    @Test func `a cut to 250 kilobits is followed within two seconds, its end within fifteen, and nothing swings`() throws {
        let link = SimulatedLink(.init(bitsPerSecond: 5_000_000))
        link.run(for: .seconds(20))
        #expect(link.track == Layers.hi)
        let cut = link.elapsed
        link.way.bitsPerSecond = 250_000
        link.run(for: .seconds(20))
        let fallen = try #require(first(Layers.low, after: cut, on: link), "\(link.changes)")
        #expect(fallen - cut <= .seconds(2), "\(link.changes)")
        let restored = link.elapsed
        link.way.bitsPerSecond = 5_000_000
        link.run(for: .seconds(40))
        let risen = try #require(first(Layers.hi, after: restored, on: link), "\(link.changes)")
        #expect(risen - restored <= .seconds(15), "\(link.changes)")
        let rises = link.changes.filter { $0.time > .seconds(1) && $0.track == Layers.hi }.map(\.time)
        #expect(zip(rises.dropFirst(), rises).allSatisfy { $0 - $1 >= .seconds(10) }, "\(link.changes)")
    }

    @Test func `a way that does not carry the lowest layer carries sound alone, and video again when it can`() {
        let link = SimulatedLink(.init(bitsPerSecond: 5_000_000))
        link.run(for: .seconds(10))
        link.way.bitsPerSecond = 120_000
        link.run(for: .seconds(20))
        #expect(link.track == nil, "\(link.changes)")
        link.way.bitsPerSecond = 5_000_000
        link.run(for: .seconds(30))
        #expect(link.track == Layers.hi, "\(link.changes)")
    }

    @Test func `tries are bounded`() {
        let link = SimulatedLink(.init(bitsPerSecond: 600_000, delay: .milliseconds(50)))
        link.run(for: .seconds(60))
        // Four hundredths of what the way carries in that minute.
        #expect(link.paddingByteCount < 180_000, "\(link.paddingByteCount)")
        let rich = SimulatedLink(.init(bitsPerSecond: 5_000_000))
        rich.run(for: .seconds(10))
        let before = rich.paddingByteCount
        rich.run(for: .seconds(60))
        #expect(rich.paddingByteCount == before, "who has the best layer is not tried")
    }

    @Test func `who begins with the best layer falls when the way is too narrow`() throws {
        let link = SimulatedLink(.init(bitsPerSecond: 600_000), adaptation: ViewerAdaptation(initial: .highest))
        link.run(for: .milliseconds(200))
        #expect(link.track == Layers.hi)
        link.run(for: .seconds(4))
        #expect(link.track == Layers.low, "\(link.changes)")
    }

    /// A publisher without layers sends what it sends: an estimate that begins low must not take its picture away.
    @Test(arguments: [(false, 0), (false, 0.07), (true, 0)])
    func `one layer of six megabits is kept where it is carried`(_ hasReportsAlone: Bool, _ loss: Double) {
        let one = [Layers.layer(.video, .noRID, 720, 6_000_000)]
        let link = SimulatedLink(.init(bitsPerSecond: 8_000_000, loss: loss), layers: one, hasReportsAlone: hasReportsAlone)
        link.run(for: .seconds(60))
        #expect(link.changes.map(\.track) == [.video], "\(link.changes)")
        link.way.bitsPerSecond = 2_000_000
        link.run(for: .seconds(20))
        #expect(link.track == nil, "\(link.changes)")
        link.way.bitsPerSecond = 20_000_000
        link.run(for: .seconds(60))
        #expect(link.track == .video, "\(link.changes)")
    }

    @Test func `reports while video is muted take nothing away`() {
        let clock = FakeClock()
        var adaptation = ViewerAdaptation()
        (adaptation.layers, adaptation.soundBitsPerSecond) = (Layers.three, 64_000)
        func report(seconds: Int) {
            for _ in 0..<seconds { adaptation.reported(fractionLost: 0, at: clock.advance(by: .seconds(1))) }
        }
        report(seconds: 60)
        #expect(adaptation.target == Layers.hi)
        for index in adaptation.layers.indices {
            (adaptation.layers[index].isActive, adaptation.layers[index].bitsPerSecond) = (false, 0)
        }
        report(seconds: 8)
        adaptation.layers = Layers.three
        adaptation.update(at: clock.advance(by: .milliseconds(100)))
        #expect(adaptation.target == Layers.hi)
    }

    @Test func `reports of loss alone are followed where there is no feedback`() {
        let clock = FakeClock()
        var adaptation = ViewerAdaptation()
        adaptation.layers = Layers.three
        func report(_ fractionLost: UInt8, seconds: Int) {
            for _ in 0..<seconds { adaptation.reported(fractionLost: fractionLost, at: clock.advance(by: .seconds(1))) }
        }
        report(0, seconds: 40)
        #expect(adaptation.target == Layers.hi)
        report(60, seconds: 8)
        #expect(adaptation.target != Layers.hi)
        report(60, seconds: 30)
        #expect(adaptation.target == nil, "a quarter lost for half a minute")
    }

    /// Where there is no sound, who gets no pictures gets nothing at all, and receivers report of what comes.
    @Test func `who is sent nothing and so reports nothing is tried with the lowest layer again`() {
        let clock = FakeClock()
        var adaptation = ViewerAdaptation()
        adaptation.layers = Layers.three
        func report(_ fractionLost: UInt8, seconds: Int) {
            for _ in 0..<seconds { adaptation.reported(fractionLost: fractionLost, at: clock.advance(by: .seconds(1))) }
        }
        func fallSilent(seconds: Int) {
            for _ in 0..<seconds { adaptation.update(at: clock.advance(by: .seconds(1))) }
        }
        report(60, seconds: 40)
        fallSilent(seconds: 14)
        #expect(adaptation.target == nil)
        fallSilent(seconds: 2)
        #expect(adaptation.target == Layers.low)
        report(0, seconds: 10)
        #expect(adaptation.target == Layers.low)
        report(60, seconds: 20)
        #expect(adaptation.target == nil, "it is too much still")
    }

    @Test func `REMB is a limit`() {
        let clock = FakeClock()
        var adaptation = ViewerAdaptation(initial: .highest)
        adaptation.layers = Layers.three
        adaptation.update(at: clock.now)
        #expect(adaptation.target == Layers.hi)
        adaptation.limited(to: 900_000, at: clock.advance(by: .milliseconds(100)))
        #expect(adaptation.target == Layers.mid)
    }

    @Test func `when a packet went is known over the wrap of its clock, once, and for two thousand packets`() {
        var packets = SentPackets()
        let start = MonotonicTime(nanoseconds: (Int64(UInt32.max) - 1_000) * 1_000)
        for number in 0..<2_100 { packets.add(byteCount: 100 + number, at: start + .milliseconds(number)) }
        func told(_ first: Int, _ count: Int) -> [DeliveredPacket] {
            packets.take(
                .init(
                    senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: UInt16(first), referenceTime: 0, feedbackCount: 0,
                    arrivalDeltas: Array(repeating: 4, count: count)))
        }
        let all = told(52, 2_048)
        #expect(all.map(\.number) == Array(52..<2_100))
        #expect(all.allSatisfy { $0.sent == start + .milliseconds($0.number) && $0.byteCount == 100 + Int($0.number) })
        #expect(told(0, 2_100).isEmpty)
    }

    @Test(arguments: [100, 400, 700, 1_500]) func `each packet is told of once, however late its feedback`(delay: Int) {
        var packets = SentPackets()
        let start = MonotonicTime(nanoseconds: 1)
        var told: [DeliveredPacket] = []
        for number in 0..<70_000 {
            packets.add(byteCount: 1 + number % 1_000, at: start + .milliseconds(number))
            guard number >= delay, number % 50 == 0 else { continue }
            let deltas = [Int16?](repeating: 4, count: 50)
            told += packets.take(
                .init(
                    senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: UInt16(truncatingIfNeeded: number - delay),
                    referenceTime: 0, feedbackCount: 0, arrivalDeltas: deltas))
        }
        #expect(told.map(\.number) == Array(0..<Int64(told.count)) && told.count > 70_000 - delay - 50)
        #expect(told.allSatisfy { $0.sent == start + .milliseconds($0.number) && $0.byteCount == 1 + Int($0.number) % 1_000 })
    }

    /// As of a viewer that was not there yet when its first packets went, or whose feedback is lost.
    @Test func `packets of which feedback never tells take no more room once they are two seconds old`() {
        var packets = SentPackets()
        let (start, count) = (MonotonicTime(nanoseconds: 1), SentPackets.initialCount)
        for number in 0..<2 * count { packets.add(byteCount: 100, at: start + .milliseconds(50 * number)) }
        let told = packets.take(
            .init(
                senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 0, referenceTime: 0, feedbackCount: 0,
                arrivalDeltas: Array(repeating: 4, count: 2 * count)))
        #expect(told.map(\.number) == (count..<2 * count).map { Int64($0) })
    }

    /// Feedback is anybody's: times that jump, numbers that never were.
    @Test func `feedback of nonsense moves nothing beyond its bounds`() {
        let clock = FakeClock()
        var estimate = BandwidthEstimate()
        var random = SplitMix64(seed: 1)
        for _ in 0..<30_000 {
            estimate.sent(byteCount: 1_200, at: clock.advance(by: .milliseconds(1)))
            let deltas = (0..<Int(random.next() % 8 + 1)).map { _ in
                random.next() % 3 == 0 ? nil : Int16(truncatingIfNeeded: random.next())
            }
            _ = estimate.received(
                .init(
                    senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: UInt16(truncatingIfNeeded: estimate.sent.next - 6),
                    referenceTime: Int32(truncatingIfNeeded: random.next()) >> 8, feedbackCount: 0, arrivalDeltas: deltas),
                at: clock.now)
            #expect(0...20_000_000 ~= estimate.bitsPerSecond(at: clock.now) ?? 0)
        }
    }
}
