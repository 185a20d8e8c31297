import MP4
import Testing
import Wire

@Suite("Movie fragments")
struct FragmentTests {
    static let video = Fragment.Run(
        trackID: 1, decodeTime: 0x1_0000_0002,
        samples: [
            .init(duration: 3_000, byteCount: 4, isSync: true), .init(duration: 3_001, byteCount: 2, isSync: false),
        ], media: [1, 2, 3, 4, 5, 6])
    static let audio = Fragment.Run(
        trackID: 2, decodeTime: 960, samples: [.init(duration: 960, byteCount: 3)], media: [7, 8, 9])

    @Test
    func `stand byte for byte as the standard says`() {
        var fragment = Fragment(sequenceNumber: 7)
        fragment.runs = [Self.video, Self.audio]
        let expected = [
            "000000bc6d6f6f66", "000000106d66686400000000" + "00000007",
            "0000005874726166",
            "0000001074666864" + "00020000" + "00000001",  // default-base-is-moof
            "0000001474666474" + "01000000" + "0000000100000002",  // a time of 64 bits
            "0000002c7472756e" + "01000701" + "00000002" + "000000c4",
            "00000bb8" + "00000004" + "02000000", "00000bb9" + "00000002" + "01010000",
            "0000004c74726166",
            "0000001474666864" + "00020020" + "00000002" + "02000000",  // all samples are alike
            "0000001474666474" + "01000000" + "00000000000003c0",
            "0000001c7472756e" + "01000301" + "00000001" + "000000ca" + "000003c0" + "00000003",
            "000000116d646174" + "010203040506" + "070809",
        ]
        #expect(String(hexadecimal: Array(fragment.parts.joined())) == expected.joined())
    }

    @Test(arguments: [(0, false), (3_000, true), (-3_000, true)] as [(Int32, Bool)])
    func `say composition offsets only where there are some`(_ offset: Int32, _ areSaid: Bool) throws {
        var fragment = Fragment(sequenceNumber: 1)
        var run = Self.audio
        run.samples[0].compositionOffset = offset
        fragment.runs = [run]
        let trun = try #require(BoxTree(Array(fragment.parts.joined())).box("moof/traf/trun"))
        #expect(trun[10] & 0x08 == (areSaid ? 0x08 : 0))
        #expect(trun.count == (areSaid ? 32 : 28))
        let last = trun.suffix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        if areSaid { #expect(Int32(bitPattern: last) == offset) }
    }

    @Test
    func `begin a segment with its type`() {
        #expect(
            String(hexadecimal: Fragment.segmentType) == "00000018" + "73747970" + "6d736468" + "00000000" + "6d7364686d736978")
    }
}
