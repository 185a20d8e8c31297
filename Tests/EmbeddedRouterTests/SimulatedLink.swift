import RTCP
import StageHub
import TestSupport
import Wire

@testable import EmbeddedRouter

/// A viewer behind a bottleneck, on a clock of its own: layers at 30 pictures a second through `ViewerAdaptation`, a queue that
/// drops what is too much, loss, delay, and feedback every 50 ms as browsers send it.
final class SimulatedLink {
    struct Way {
        var bitsPerSecond: Int
        var delay: Duration = .milliseconds(10)
        var loss = 0.0
    }

    private struct Arrival {
        var time: MonotonicTime
        var number: Int64
    }

    private struct Report {
        var time: MonotonicTime
        var feedback: TransportWideFeedback
    }

    let clock = FakeClock()
    var way: Way
    /// Receiver reports once a second in the place of feedback on each packet.
    let hasReportsAlone: Bool
    var adaptation: ViewerAdaptation
    /// What the viewer was to get, by when it changed.
    private(set) var changes: [(time: Duration, track: TrackID?)] = []
    private(set) var paddingByteCount = 0
    private var random = SplitMix64(seed: 3)
    private let start: MonotonicTime
    private var freeAt: MonotonicTime
    private var arrivals: [Arrival] = []
    private var reports: [Report] = []
    private var nextStatus: Int64 = 0
    private var feedbackCount: UInt8 = 0
    private var isTrying = false
    /// How long the queue of the bottleneck may be; more is dropped.
    private let longestQueue: Duration = .milliseconds(300)

    init(
        _ way: Way, layers: [VideoLayer] = LayerChooserTests.three, adaptation: ViewerAdaptation = ViewerAdaptation(),
        hasReportsAlone: Bool = false
    ) {
        self.hasReportsAlone = hasReportsAlone
        (self.way, self.adaptation, start, freeAt) = (way, adaptation, clock.now, clock.now)
        self.adaptation.layers = layers
        self.adaptation.soundBitsPerSecond = 70_000
    }

    var elapsed: Duration { clock.now - start }
    var track: TrackID? { adaptation.target }

    /// Lets time pass, in steps of 5 ms.
    func run(for duration: Duration) {
        let end = clock.now + duration
        while clock.now < end {
            let now = clock.advance(by: .milliseconds(5))
            let step = elapsed.milliseconds / 5
            if step % 4 == 0 { send(175, at: now) }
            if step % 7 == 0 { sendPicture(at: now) }
            if isTrying { pad(at: now) }
            if hasReportsAlone, step % 200 == 0 { reportLoss(at: now) }
            if !hasReportsAlone, step % 10 == 0 { makeReport(at: now) }
            deliverReports(at: now)
            if step % 20 == 0 {
                adaptation.update(at: now)
                if !isTrying { isTrying = adaptation.beginsTry(at: now) }
            }
            if changes.last?.track != track || changes.isEmpty { changes.append((elapsed, track)) }
        }
    }

    private func sendPicture(at now: MonotonicTime) {
        guard let layer = adaptation.layers.first(where: { $0.track == track }) else { return }
        // Pictures differ in size as those of encoders do.
        var left = layer.bitsPerSecond * 35 / 8_000 * Int(70 + random.next() % 60) / 100
        while left > 0 {
            send(min(left, 1_100) + 40, at: now)
            left -= 1_100
        }
    }

    private func pad(at now: MonotonicTime) {
        guard var left = adaptation.padding(at: now) else { return isTrying = false }
        while left > 0 {
            send(290, at: now)
            paddingByteCount += 290
            left -= 290
        }
    }

    private func send(_ byteCount: Int, at now: MonotonicTime) {
        let number = adaptation.estimate.sent.next
        adaptation.sent(byteCount: byteCount, at: now)
        freeAt = max(freeAt, now)
        guard freeAt - now <= longestQueue, Double(random.next() % 10_000) >= way.loss * 10_000 else { return }
        freeAt = freeAt + .nanoseconds(Int64(byteCount) * 8_000_000_000 / Int64(way.bitsPerSecond))
        // The network between shakes a little, and keeps the order.
        let shaken = freeAt + way.delay + .microseconds(Int64(random.next() % 2_000))
        arrivals.append(Arrival(time: max(shaken, arrivals.last?.time ?? shaken), number: number))
    }

    private func makeReport(at now: MonotonicTime) {
        let come = arrivals.prefix { $0.time <= now }
        guard let last = come.last else { return }
        arrivals.removeFirst(come.count)
        let reference = come[come.startIndex].time.nanoseconds / 64_000_000
        var (ticks, deltas) = (reference * 256, [Int16?]())
        for number in nextStatus...max(nextStatus, last.number) {
            let arrival = come.first { $0.number == number }?.time.nanoseconds
            let tick = arrival.map { $0 / 250_000 }
            deltas.append(tick.map { Int16($0 - ticks) })
            ticks = tick ?? ticks
        }
        let feedback = TransportWideFeedback(
            senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: UInt16(truncatingIfNeeded: nextStatus),
            referenceTime: Int32(truncatingIfNeeded: reference), feedbackCount: feedbackCount, arrivalDeltas: deltas)
        (nextStatus, feedbackCount) = (last.number + 1, feedbackCount &+ 1)
        reports.append(Report(time: now + way.delay, feedback: feedback))
    }

    private func reportLoss(at now: MonotonicTime) {
        let come = arrivals.prefix { $0.time <= now }
        arrivals.removeFirst(come.count)
        guard let last = come.last, last.number >= nextStatus else { return }
        let expected = Int(last.number - nextStatus + 1)
        nextStatus = last.number + 1
        adaptation.reported(fractionLost: UInt8(max(0, expected - come.count) * 255 / expected), at: now)
    }

    private func deliverReports(at now: MonotonicTime) {
        while let report = reports.first, report.time <= now {
            reports.removeFirst()
            adaptation.received(report.feedback, at: now)
        }
    }
}
