import H264
import TestSupport
import Testing

@Suite("NALUnitList")
struct NALUnitListTests {
    @Test(arguments: LengthPrefixedUnits.cases)
    func `an access unit and an aggregation packet of the same units are read alike`(_ item: LengthPrefixedUnits) {
        var found = NALUnitList()
        item.body.withUnsafeBytes { body in
            found.find(inAccessUnit: body, lengthSize: 2)
            #expect(found.units.map { Array($0) } == item.units)
        }
        #expect(found.isMalformed == item.isMalformed)
        #expect(found.endOffset == item.endOffset)
        ([0x78] + item.body).withUnsafeBytes { payload in
            found.find(inPayload: payload)
            #expect(found.units.map { Array($0) } == item.units)
        }
        #expect(found.isMalformed == item.isMalformed)
        #expect(found.endOffset == (item.endOffset == 0 ? 0 : item.endOffset + 1))
        #expect(found.fragment == nil && !found.hasIDR)
    }

    /// Payload, units, whether a fragment, whether it can be read at all.
    @Test(
        arguments: [
            ([0x41, 0x9A], [[0x41, 0x9A]], false, true), ([0x65], [[0x65]], false, true), ([0x0C, 0xFF], [], false, true),
            ([0x7C, 0x85, 1], [], true, true), ([0x7C, 0x45], [], true, true), ([0x7C], [], false, false),
            ([0x7C, 0x80, 1], [], false, false), ([0x7C, 0x98, 1], [], false, false), ([], [], false, false),
            ([0x40], [], false, false), ([0x79, 1, 2], [], false, false), ([0x7D, 0x85, 0, 0, 1], [], false, false),
            ([0x5F], [], false, false),
        ] as [([UInt8], [[UInt8]], Bool, Bool)])
    func `a payload has whole units, or a part of one, or cannot be read`(
        _ payload: [UInt8], _ units: [[UInt8]], _ isFragment: Bool, _ isReadable: Bool
    ) {
        var found = NALUnitList()
        payload.withUnsafeBytes { bytes in
            found.find(inPayload: bytes)
            #expect(found.units.map { Array($0) } == units)
            #expect((found.fragment != nil) == isFragment)
        }
        #expect(found.isUnreadable == !isReadable)
        #expect(found.endOffset == (isReadable ? payload.count : 0))
    }

    @Test
    func `knows an IDR picture, whole or in part`() {
        var found = NALUnitList()
        for (payload, hasIDR) in [
            ([0x65, 1], true), ([0x78, 0, 1, 0x67, 0, 1, 0x65], true), ([0x7C, 0x85, 1], true), ([0x7C, 5, 1], true),
            ([0x41, 1], false), ([0x7C, 0x81, 1], false),
        ] as [([UInt8], Bool)] {
            payload.withUnsafeBytes { found.find(inPayload: $0) }
            #expect(found.hasIDR == hasIDR, "\(payload)")
        }
    }

    /// Of 500 kB in slices as long as packets are: what x264 makes of noise at 8 Mbit/s with a buffer of two seconds.
    @Test
    func `a picture of many slices is whole`() {
        var found = NALUnitList()
        let slice: [UInt8] = [0, 0, 0, 2, 0x65, 0x88]
        let body = (0..<416).flatMap { _ in slice }
        body.withUnsafeBytes { found.find(inAccessUnit: $0, lengthSize: 4) }
        #expect((found.units.count, found.isMalformed, found.endOffset) == (416, false, body.count))
    }

    /// Body, units. FFmpeg decodes such streams.
    @Test(
        arguments: [
            ([0, 0, 0, 1, 0x65, 0x88], [[0x65, 0x88]]),
            ([0, 0, 0, 1, 6, 5, 0x80, 0, 0, 0, 1, 0x65, 0x88, 0, 0, 1, 0x65, 7], [[6, 5, 0x80], [0x65, 0x88], [0x65, 7]]),
            ([0, 0, 0, 1, 0x65, 0x88, 0, 0, 0, 0, 1, 12, 0xFF, 0, 0, 1, 0, 0, 1, 0x65, 0], [[0x65, 0x88], [0x65]]),
            // Not these: the lengths are right.
            ([0, 0, 0, 1, 9, 0, 0, 0, 2, 0x65, 0x88], [[9], [0x65, 0x88]]),
            ([0, 0, 0, 1, 9, 0, 0, 0, 4, 0x65, 0, 0, 1], [[9], [0x65, 0, 0, 1]]),
        ] as [([UInt8], [[UInt8]])])
    func `start codes in place of lengths are read as such`(_ body: [UInt8], _ units: [[UInt8]]) {
        var found = NALUnitList()
        body.withUnsafeBytes { bytes in
            found.find(inAccessUnit: bytes, lengthSize: 4)
            #expect(found.units.map { Array($0) } == units)
        }
        #expect((found.hasIDR, found.isMalformed, found.endOffset) == (true, false, body.count))
    }

    /// Android's `prepend-sps-pps-to-idr-frames`: an app puts one length in place of the first of three start codes.
    @Test
    func `units behind start codes within a parameter set are found`() {
        let picture: [UInt8] = [
            0, 0, 0, 21, 0x67, 0x42, 0xC0, 0x1F, 0x8C, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80, 0, 0, 0, 1, 0x65, 0x88, 0x84, 7,
        ]
        let units: [[UInt8]] = [[0x67, 0x42, 0xC0, 0x1F, 0x8C], [0x68, 0xCE, 0x3C, 0x80], [0x65, 0x88, 0x84, 7]]
        var found = NALUnitList()
        for (rest, others) in [([], []), ([0, 0, 0, 2, 0x65, 7], [[0x65, 7]])] as [([UInt8], [[UInt8]])] {
            (picture + rest).withUnsafeBytes { bytes in
                found.find(inAccessUnit: bytes, lengthSize: 4)
                #expect(found.units.map { Array($0) } == units + others)
            }
            #expect((found.hasIDR, found.isMalformed, found.endOffset) == (true, false, picture.count + rest.count))
        }
    }

    /// A delimiter of one byte before a slice, and then what cannot be read or forwarded.
    @Test(arguments: [[0, 0, 0, 9, 0x41], [0, 0], [0, 0, 0, 2, 0x18, 1]] as [[UInt8]])
    func `lengths that break behind sound ones stay lengths`(_ rest: [UInt8]) {
        var found = NALUnitList()
        ([0, 0, 0, 1, 9, 0, 0, 0, 2, 0x65, 0x88] + rest).withUnsafeBytes { bytes in
            found.find(inAccessUnit: bytes, lengthSize: 4)
            #expect(found.units.map { Array($0) } == [[9], [0x65, 0x88]])
        }
        #expect((found.hasIDR, found.isMalformed) == (true, true))
    }

    @Test
    func `filled again, it allocates nothing`() throws {
        var found = NALUnitList()
        // Sound ones: Swift Testing keeps a backtrace of every error that is thrown, which allocates.
        let body = LengthPrefixedUnits.cases.filter { !$0.isMalformed }.flatMap(\.body)
        let count = try AllocationCounter.count {
            for _ in 0..<100 { body.withUnsafeBytes { found.find(inAccessUnit: $0, lengthSize: 2) } }
        }
        #expect(count == 0)
    }
}
