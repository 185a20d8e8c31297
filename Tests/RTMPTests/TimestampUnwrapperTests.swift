import Testing

@testable import RTMP

@Suite("Timestamp unwrapping")
struct TimestampUnwrapperTests {
    @Test(
        arguments: [
            ([0, 40, 20, 80], [0, 40, 20, 80]),
            ([0xFFFF_FFF0, 4, 0xFFFF_FFFA, 30], [0xFFFF_FFF0, 0x1_0000_0004, 0xFFFF_FFFA, 0x1_0000_001E]),
            // 31 bits: audio and video cross the border one after the other, then go round again.
            ([0x7FFF_FFF0, 4, 0x7FFF_FFFA, 30], [0x7FFF_FFF0, 0x8000_0004, 0x7FFF_FFFA, 0x8000_001E]),
            // 32 bits pass the 31-bit border as any other.
            ([0x7FFF_FFF0, 0x8000_0010, 0x8000_0030], [0x7FFF_FFF0, 0x8000_0010, 0x8000_0030]),
            // A jump back by an hour is one.
            ([4_000_000, 400_000], [4_000_000, 400_000]),
        ] as [([UInt32], [Int64])])
    func `unwraps`(_ stamps: [UInt32], _ expected: [Int64]) {
        var unwrapper = TimestampUnwrapper()
        #expect(stamps.map { unwrapper.unwrap($0) } == expected)
    }

    @Test func `goes round twice with 31 bits`() {
        var unwrapper = TimestampUnwrapper()
        var stamp: UInt32 = 0x7FFF_F000
        var expected: Int64 = 0x7FFF_F000
        for _ in 0..<500 {
            #expect(unwrapper.unwrap(stamp) == expected)
            stamp = (stamp + 10_000_000) & 0x7FFF_FFFF
            expected += 10_000_000
            if stamp < 10_000_000 {
                // Wraps are seen in steps like those of real streams.
                #expect(unwrapper.unwrap(0x7FFF_FFFF) == expected - Int64(stamp) - 1)
                #expect(unwrapper.unwrap(0) == expected - Int64(stamp))
            }
        }
    }

    @Test func `begins anew where steps have led farther than any clock does`() {
        var (unwrapper, stamp, farthest) = (TimestampUnwrapper(), UInt32(0), UInt64(0))
        for _ in 0..<10_000 {
            farthest = max(farthest, unwrapper.unwrap(stamp).magnitude)
            stamp &+= 0x7FFF_FFFF
        }
        #expect(farthest < 2 * TimestampUnwrapper.farthest)
        #expect(16 * farthest < UInt64(Int64.max) / 1_000_000, "and is small in nanoseconds")
        let time = unwrapper.unwrap(stamp)
        #expect(unwrapper.unwrap(stamp &+ 40) == time + 40, "and goes on from there")
    }
}
