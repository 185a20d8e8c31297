import H264
import TestSupport
import Testing
import Wire

@Suite("SliceHeader")
struct SliceHeaderTests {
    @Test(arguments: [(0, SliceHeader.SliceType.p), (1, .b), (2, .i), (3, .sp), (4, .si), (5, .p), (6, .b), (7, .i), (9, .si)])
    func `reads type, first macroblock and parameter set`(_ code: Int, _ type: SliceHeader.SliceType) throws {
        var builder = SliceBuilder(type: code)
        (builder.firstMacroblock, builder.pictureParameterSetID, builder.refIDC) = (1_800, 255, 0)
        let header = try SliceHeader(parsing: builder.bytes.span.bytes)
        #expect((header.type, header.firstMacroblock, header.pictureParameterSetID) == (type, 1_800, 255))
        #expect((header.isIDR, header.refIDC) == (false, 0))
    }

    @Test
    func `leaves out emulation prevention`() throws {
        // first_mb_in_slice 65,535 in 33 bits with a prevention byte behind the first two, then slice_type 0, parameter set 0
        let bytes: [UInt8] = [0x65, 0x00, 0x00, 0x03, 0x80, 0x00, 0x60, 0xFF]
        let header = try SliceHeader(parsing: bytes.span.bytes)
        #expect((header.firstMacroblock, header.type, header.pictureParameterSetID) == (65_535, .p, 0))
    }

    @Test
    func `a fragment's header may stand elsewhere`() throws {
        let bytes = SliceBuilder(isIDR: true).bytes
        let body = Array(bytes.dropFirst())
        let header = try SliceHeader(header: NALUnitHeader(bytes[0]), payload: body.span.bytes)
        #expect(try header == SliceHeader(parsing: bytes.span.bytes))
    }

    @Test
    func `refuses other units and short ones`() {
        #expect(throws: H264Error.unexpectedType(7)) { try SliceHeader(parsing: SPSBuilder().bytes.span.bytes) }
        for bytes in [[], [0x41], [0x41, 0x00], [0x41, 0x80]] as [[UInt8]] {
            #expect(throws: H264Error.truncated) { try SliceHeader(parsing: bytes.span.bytes) }
        }
        let tooFar: [UInt8] = [0x41, 0x00, 0x00, 0x01, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(throws: H264Error.valueOutOfRange) { try SliceHeader(parsing: tooFar.span.bytes) }
    }
}
