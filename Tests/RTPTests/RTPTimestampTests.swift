import TestSupport
import Testing

@testable import RTP

@Suite("RTP timestamps")
struct RTPTimestampTests {
    @Test func `a walk of many rounds, forward and back, is followed exactly`() {
        var generator = SplitMix64(seed: 1)
        var timestamps = RTPTimestampUnwrapper()
        var time: Int64 = 4_000_000_000
        #expect(timestamps.unwrap(UInt32(time)) == time)
        for _ in 0..<10_000 {
            time += .random(in: -90_000...900_000_000, using: &generator)
            #expect(timestamps.unwrap(UInt32(truncatingIfNeeded: time)) == time)
        }
    }

    @Test func `a time near the last one is extended without moving on to it`() {
        var timestamps = RTPTimestampUnwrapper()
        #expect(timestamps.extend(7) == 7)
        #expect(timestamps.unwrap(0xFFFF_FFF0) == 0xFFFF_FFF0)
        #expect(timestamps.extend(0x10) == 0x1_0000_0010)
        #expect(timestamps.last == 0xFFFF_FFF0)
    }

    @Test func `time begins anew where steps have led farther than any clock does`() {
        var (timestamps, stamp, farthest) = (RTPTimestampUnwrapper(), UInt32(7), UInt64(0))
        for _ in 0..<40_000 {
            farthest = max(farthest, timestamps.unwrap(stamp).magnitude)
            stamp &+= 0x7FFF_FFFF
        }
        #expect(farthest < 2 * RTPTimestampUnwrapper.farthest)
        let time = timestamps.unwrap(stamp)
        #expect(UInt32(truncatingIfNeeded: time) == stamp)
        #expect(timestamps.unwrap(stamp &+ 3_000) == time + 3_000, "and goes on from there")
    }

    @Test(arguments: [ClockRate.video, ClockRate.audio])
    func `ticks survive the way to nanoseconds and back`(at rate: Int64) {
        for ticks in [0, 1, 2, 7, 1_001, 89_999, 324_000_001, 1 << 45] as [Int64] {
            for ticks in [ticks, -ticks] {
                #expect(ClockRate.ticks(ofNanoseconds: ClockRate.nanoseconds(ofTicks: ticks, at: rate), at: rate) == ticks)
            }
        }
        #expect(ClockRate.ticks(ofNanoseconds: 33_333_333, at: ClockRate.video) == 3_000, "the nearest, not the one before")
    }
}
