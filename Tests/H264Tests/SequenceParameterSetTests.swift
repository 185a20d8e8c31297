import H264
import TestSupport
import Testing
import Wire

@Suite("SequenceParameterSet")
struct SequenceParameterSetTests {
    /// Real ones: encoder, bytes, profile-level-id, size, frame rate.
    struct Sample: CustomTestStringConvertible, Sendable {
        var encoder: String
        var bytes: [UInt8]
        var profileLevelID: String
        var width: Int
        var height: Int
        var frameRate: Double?
        var testDescription: String { encoder }
    }

    static let samples: [Sample] = [
        Sample(
            encoder: "x264 baseline 1280x720 at 30",
            bytes: [
                0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE8, 0x40, 0x00, 0x00, 0x03, 0x00, 0x40, 0x00, 0x00, 0x0F,
                0x23, 0xC6, 0x0C, 0xA8,
            ], profileLevelID: "42c01f", width: 1_280, height: 720, frameRate: 30),
        Sample(
            encoder: "x264 high 1920x1080 with B-frames",
            bytes: [
                0x67, 0x64, 0x00, 0x28, 0xAC, 0xD9, 0x40, 0x78, 0x02, 0x27, 0xE5, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04,
                0x00, 0x00, 0x03, 0x00, 0xF0, 0x3C, 0x60, 0xC6, 0x58,
            ], profileLevelID: "640028", width: 1_920, height: 1_080, frameRate: 30),
    ]

    @Test(arguments: samples)
    func `reads what real encoders send`(_ sample: Sample) throws {
        let set = try SequenceParameterSet(parsing: sample.bytes.span.bytes)
        #expect(set.profileLevelID == sample.profileLevelID)
        #expect((set.width, set.height) == (sample.width, sample.height))
        #expect(set.vui?.timing?.frameRate == sample.frameRate)
        #expect(set.frameMbsOnly)
    }

    @Test(arguments: [(1_280, 720), (720, 1_280), (284, 160), (1_920, 1_080), (2, 2), (16_384, 16_384)])
    func `gives the cropped size`(_ width: Int, _ height: Int) throws {
        var builder = SPSBuilder()
        (builder.width, builder.height) = (width, height)
        let set = try SequenceParameterSet(parsing: builder.bytes.span.bytes)
        #expect((set.width, set.height) == (width, height))
    }

    @Test(arguments: [0, 1, 2])
    func `steps over each picture order count type`(_ type: Int) throws {
        var builder = SPSBuilder()
        builder.pictureOrderCountType = type
        builder.maxNumRefFrames = 4
        let set = try SequenceParameterSet(parsing: builder.bytes.span.bytes)
        #expect((set.width, set.height) == (1_280, 720))
    }

    @Test(arguments: [1, 2, 3])
    func `crops by the units of the chroma format`(_ chromaFormatIDC: Int) throws {
        var builder = SPSBuilder()
        builder.profileIDC = 244
        builder.chromaFormatIDC = chromaFormatIDC
        (builder.width, builder.height) = (1_270, 718)
        let set = try SequenceParameterSet(parsing: builder.bytes.span.bytes)
        #expect((set.width, set.height) == (1_270, 718))
        #expect(Int(set.chromaFormatIDC) == chromaFormatIDC)
    }

    @Test
    func `interlaced sets count field pairs`() throws {
        var builder = SPSBuilder()
        builder.isProgressive = false
        (builder.width, builder.height) = (1_920, 1_080)
        let set = try SequenceParameterSet(parsing: builder.bytes.span.bytes)
        #expect(!set.frameMbsOnly)
        #expect((set.width, set.height) == (1_920, 1_080))
    }

    @Test
    func `reads timing of a set with an HRD and reordering`() throws {
        var builder = SPSBuilder()
        builder.hasHRD = true
        builder.timing = (1_001, 60_000)
        builder.maxNumReorderFrames = 2
        let set = try SequenceParameterSet(parsing: builder.bytes.span.bytes)
        #expect(abs((set.vui?.timing?.frameRate ?? 0) - 29.97) < 0.001)
    }

    @Test
    func `every prefix is truncated or a set without VUI`() {
        var builder = SPSBuilder()
        builder.timing = (1, 60)
        let bytes = builder.bytes
        let whole = try? SequenceParameterSet(parsing: bytes.span.bytes)
        for length in 0..<bytes.count {
            let prefix = Array(bytes.prefix(length))
            do throws(H264Error) {
                let set = try SequenceParameterSet(parsing: prefix.span.bytes)
                #expect((set.width, set.height) == (whole?.width, whole?.height))
            } catch {
                #expect(error == .truncated)
            }
        }
    }

    @Test
    func `refuses sides, crops and codes beyond sense`() {
        var tooWide = SPSBuilder()
        tooWide.width = 16_400
        #expect(throws: H264Error.valueOutOfRange) { try SequenceParameterSet(parsing: tooWide.bytes.span.bytes) }
        var tooTall = SPSBuilder()
        (tooTall.isProgressive, tooTall.height) = (false, 16_416)
        #expect(throws: H264Error.valueOutOfRange) { try SequenceParameterSet(parsing: tooTall.bytes.span.bytes) }
        let zeros: [UInt8] = [0x67, 66, 0, 31] + Array(repeating: 0x00, count: 8)
        #expect(throws: H264Error.codeTooLong) { try SequenceParameterSet(parsing: zeros.span.bytes) }
        let long: [UInt8] = [0x67] + Array(repeating: 0xFF, count: SequenceParameterSet.maximumByteCount)
        #expect(throws: H264Error.tooLong) { try SequenceParameterSet(parsing: long.span.bytes) }
        #expect(throws: H264Error.unexpectedType(8)) { try SequenceParameterSet(parsing: PPSBuilder().bytes.span.bytes) }
    }

    @Test
    func `refuses a crop wider than the picture`() {
        var bits = BitWriter()
        for value in [66, 0, 31] { bits.write(value, bits: 8) }
        for value in [0, 0, 2, 1] { bits.unsigned(value) }
        bits.flag(false)
        for value in [0, 0] { bits.unsigned(value) }
        bits.write(0b111, bits: 3)  // frame_mbs_only, direct_8x8_inference, frame_cropping
        for value in [0x7FFF_FFFF, 0x7FFF_FFFF, 0, 0] { bits.unsigned(value) }
        bits.flag(false)
        #expect(throws: H264Error.valueOutOfRange) { try SequenceParameterSet(parsing: bits.nalUnit(header: 0x67).span.bytes) }
    }
}
