import RTP
import Testing
import TestSupport

@Suite("Unwrapping sequence numbers and timestamps")
struct ExtendedNumberTests {
    @Test func `sequence numbers wrap upward and late ones stay below`() {
        var extended = ExtendedSequenceNumber()
        #expect(extended.unwrap(65534) == 65534)
        #expect(extended.unwrap(1) == 65537)
        #expect(extended.unwrap(65535) == 65535)
        #expect(extended.highest == 65537)
        #expect(extended.extend(0) == 65536)
        #expect(extended.highest == 65537)
    }

    @Test func `a first late packet is negative, not two rounds ahead`() {
        var extended = ExtendedSequenceNumber()
        #expect(extended.unwrap(2) == 2)
        #expect(extended.unwrap(65535) == -1)
    }

    @Test func `a walk of many rounds is followed exactly`() {
        var generator = SplitMix64(seed: 1)
        var extended = ExtendedSequenceNumber()
        var timestamps = ExtendedTimestamp()
        var (number, time): (Int64, Int64) = (40_000, 4_000_000_000)
        #expect(extended.unwrap(UInt16(number)) == number)
        #expect(timestamps.unwrap(UInt32(time)) == time)
        for _ in 0..<10_000 {
            number += .random(in: 1...3000, using: &generator)
            time += .random(in: -90_000...900_000_000, using: &generator)
            #expect(extended.unwrap(UInt16(truncatingIfNeeded: number)) == number)
            #expect(timestamps.unwrap(UInt32(truncatingIfNeeded: time)) == time)
        }
    }
}
