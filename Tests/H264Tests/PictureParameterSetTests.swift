import H264
import TestSupport
import Testing
import Wire

@Suite("PictureParameterSet")
struct PictureParameterSetTests {
    @Test
    func `reads what x264 sends for Baseline and High`() throws {
        for bytes in [[0x68, 0xCE, 0x3C, 0x80], [0x68, 0xEB, 0xE3, 0xCB, 0x22, 0xC0]] as [[UInt8]] {
            let set = try PictureParameterSet(parsing: bytes.span.bytes)
            #expect((set.sequenceParameterSetID, set.sliceGroupCount, set.redundantPicCntPresent) == (0, 1, false))
        }
    }

    @Test(arguments: 0...6, [2, 3, 8])
    func `finds the redundancy flag behind every slice group map`(_ mapType: Int, _ count: Int) throws {
        for flag in [false, true] {
            var builder = PPSBuilder()
            (builder.id, builder.sequenceParameterSetID) = (200, 31)
            (builder.sliceGroupCount, builder.sliceGroupMapType, builder.hasRedundantPictures) = (count, mapType, flag)
            let set = try PictureParameterSet(parsing: builder.bytes.span.bytes)
            #expect((set.id, set.sequenceParameterSetID) == (200, 31))
            #expect((Int(set.sliceGroupCount), set.redundantPicCntPresent) == (count, flag))
        }
    }

    @Test
    func `every prefix is truncated`() {
        var builder = PPSBuilder()
        (builder.sliceGroupCount, builder.sliceGroupMapType) = (3, 6)
        for length in 0..<builder.bytes.count - 1 {
            let prefix = Array(builder.bytes.prefix(length))
            #expect(throws: H264Error.truncated) { try PictureParameterSet(parsing: prefix.span.bytes) }
        }
    }

    @Test
    func `a false slice group count ends with the bytes`() {
        var bits = BitWriter()
        for value in [0, 0] { bits.unsigned(value) }
        bits.write(0, bits: 2)
        for value in [7, 6, 0xFFFF_FFFE] { bits.unsigned(value) }
        #expect(throws: H264Error.truncated) { try PictureParameterSet(parsing: bits.nalUnit(header: 0x68).span.bytes) }
    }
}
