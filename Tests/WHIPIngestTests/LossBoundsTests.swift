import EventLoop
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Loss tracker, its bounds")
struct LossBoundsTests {
    /// As one that looks at everything each time.
    private struct Plain {
        var highest: Int64 = 0
        var missing: [Int64] = []
        var givenUp = 0

        mutating func received(_ number: Int64) {
            if number > highest {
                missing += Array((highest + 1)..<number)
                let surplus = max(0, missing.count - LossTracker.maximumMissing)
                missing.removeFirst(surplus)
                givenUp += surplus
                highest = number
            } else {
                missing.removeAll { $0 == number }
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `whatever gaps come, the newest 512 are missing and the rest is given up`(seed: UInt64) {
        var (tracker, plain, random) = (LossTracker(), Plain(), SplitMix64(seed: seed))
        let now = MonotonicTime(nanoseconds: 1)
        _ = tracker.received(0, at: now)
        for _ in 0..<2_000 {
            let isLate = random.next() % 4 == 0 && plain.highest > 600
            let step = Int64(random.next() % (isLate ? 500 : 514))
            let number = isLate ? plain.highest - step : plain.highest + max(1, step)
            _ = tracker.received(number, at: now)
            plain.received(number)
            #expect(tracker.missingCount == plain.missing.count && tracker.lost == plain.givenUp)
        }
    }

    /// CPU time of the thread, fifty times what it takes: moving all that is missing for each number took 0.2 ms a packet.
    @Test func `a packet behind a gap of 512 costs little`() {
        var tracker = LossTracker()
        let packets: Int64 = 5_000
        let start = EventLoop.threadCPU()
        for index in 0..<packets { _ = tracker.received(index * 513, at: MonotonicTime(nanoseconds: index)) }
        let cost = (EventLoop.threadCPU() - start) / Int(packets)
        #expect(cost < .microseconds(100), "\(cost) a packet")
    }
}
