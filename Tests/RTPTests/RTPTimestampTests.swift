import RTP
import TestSupport
import Testing

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
}
