import FLV
import Testing
import Wire

@Suite("Video message bodies")
struct VideoTagTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var codec: VideoCodec
        var frameType: VideoTag.FrameType
        var packet: VideoTag.Packet
        var payload: [UInt8]
        var compositionTime: Int32 = 0
        var nanosecondOffset: UInt32 = 0
        var ignoredTrackCount = 0
    }

    static let avc1: [UInt8] = Array("avc1".utf8)
    static let hvc1: [UInt8] = Array("hvc1".utf8)

    static let cases: [Case] = [
        Case(
            testDescription: "legacy sequence header", bytes: [0x17, 0, 0, 0, 0, 1, 2], codec: .h264, frameType: .key,
            packet: .sequenceStart, payload: [1, 2]),
        Case(
            testDescription: "legacy frame with a composition time", bytes: [0x27, 1, 0, 0, 0x21, 9], codec: .h264,
            frameType: .inter, packet: .codedFrames, payload: [9], compositionTime: 33),
        Case(
            testDescription: "negative composition time", bytes: [0x27, 1, 0xFF, 0xFF, 0xFF, 9], codec: .h264,
            frameType: .inter, packet: .codedFrames, payload: [9], compositionTime: -1),
        Case(
            testDescription: "legacy end of sequence", bytes: [0x17, 2, 0, 0, 0], codec: .h264, frameType: .key,
            packet: .sequenceEnd, payload: []),
        Case(
            testDescription: "player command", bytes: [0x57, 0], codec: .h264, frameType: .command, packet: .command,
            payload: [0]),
        Case(
            testDescription: "Sorenson H.263", bytes: [0x22, 7], codec: .sorensonH263, frameType: .inter, packet: .codedFrames,
            payload: [7]),
        Case(
            testDescription: "HEVC as codec 12", bytes: [0x1C, 0, 0, 0, 0, 5], codec: .hevc, frameType: .key,
            packet: .sequenceStart, payload: [5]),
        Case(
            testDescription: "enhanced sequence start", bytes: [0x90] + avc1 + [1, 2], codec: .h264, frameType: .key,
            packet: .sequenceStart, payload: [1, 2]),
        Case(
            testDescription: "enhanced coded frames", bytes: [0xA1] + avc1 + [0, 0, 5, 9], codec: .h264, frameType: .inter,
            packet: .codedFrames, payload: [9], compositionTime: 5),
        Case(
            testDescription: "enhanced coded frames X", bytes: [0xA3] + avc1 + [9], codec: .h264, frameType: .inter,
            packet: .codedFrames, payload: [9]),
        Case(
            testDescription: "AV1 has no composition time", bytes: [0x91] + Array("av01".utf8) + [9, 8], codec: .av1,
            frameType: .key, packet: .codedFrames, payload: [9, 8]),
        Case(
            testDescription: "enhanced metadata", bytes: [0xD4] + avc1 + [2], codec: .h264, frameType: .command,
            packet: .metadata, payload: [2]),
        Case(
            testDescription: "enhanced end of sequence", bytes: [0x92] + avc1, codec: .h264, frameType: .key,
            packet: .sequenceEnd, payload: []),
        Case(
            testDescription: "enhanced command", bytes: [0xD1, 0], codec: .unknownCodecID(0), frameType: .command,
            packet: .command, payload: []),
        Case(
            testDescription: "unknown FourCC", bytes: [0x90] + Array("zzzz".utf8) + [1], codec: .unknownFourCC("zzzz"),
            frameType: .key, packet: .sequenceStart, payload: [1]),
        Case(
            testDescription: "reserved packet type", bytes: [0x9F] + avc1 + [1], codec: .h264, frameType: .key,
            packet: .reserved(15), payload: [1]),
        Case(
            testDescription: "nanosecond offset", bytes: [0xA7, 2, 0x07, 0xA1, 0x20, 0x03] + avc1 + [9], codec: .h264,
            frameType: .inter, packet: .codedFrames, payload: [9], nanosecondOffset: 500_000),
        Case(
            testDescription: "nanosecond offset of a millisecond and more",
            bytes: [0xA7, 2, 0x0F, 0x42, 0x40, 0x03] + avc1 + [9],
            codec: .h264, frameType: .inter, packet: .codedFrames, payload: [9]),
        Case(
            testDescription: "two modifiers, the first unknown and 256 bytes long",
            bytes: [0xA7, 255, 0, 255] + [UInt8](repeating: 1, count: 256) + [0x17, 2, 0, 0, 7, 0x03] + avc1 + [9],
            codec: .h264, frameType: .inter, packet: .codedFrames, payload: [9], nanosecondOffset: 7),
        Case(
            testDescription: "one track", bytes: [0xA6, 0x01] + avc1 + [0, 0, 0, 5, 9], codec: .h264, frameType: .inter,
            packet: .codedFrames, payload: [9], compositionTime: 5),
        Case(
            testDescription: "one track that is not track 0", bytes: [0xA6, 0x01] + avc1 + [1, 0, 0, 5, 9], codec: .h264,
            frameType: .inter, packet: .otherTracks, payload: [], ignoredTrackCount: 1),
        Case(
            testDescription: "many tracks, track 0 second",
            bytes: [0xA6, 0x13] + avc1 + [1, 0, 0, 2, 7, 7] + [0, 0, 0, 1, 9] + [2, 0, 0, 0], codec: .h264, frameType: .inter,
            packet: .codedFrames, payload: [9], ignoredTrackCount: 2),
        Case(
            testDescription: "many tracks of many codecs",
            bytes: [0x96, 0x20] + hvc1 + [1, 0, 0, 1, 7] + avc1 + [0, 0, 0, 2, 8, 9], codec: .h264, frameType: .key,
            packet: .sequenceStart, payload: [8, 9], ignoredTrackCount: 1),
    ]

    @Test(arguments: cases)
    func `reads`(_ testCase: Case) throws {
        let tag = try VideoTag(parsing: testCase.bytes.span.bytes)
        #expect(tag.codec == testCase.codec)
        #expect(tag.frameType == testCase.frameType)
        #expect(tag.packet == testCase.packet)
        #expect(Array(testCase.bytes[tag.body]) == testCase.payload)
        #expect(tag.compositionTime == testCase.compositionTime)
        #expect(tag.nanosecondOffset == testCase.nanosecondOffset)
        #expect(tag.ignoredTrackCount == testCase.ignoredTrackCount)
    }

    @Test(arguments: cases)
    func `takes or rejects every prefix without leaving it`(_ testCase: Case) {
        for count in 0..<testCase.bytes.count {
            let prefix = Array(testCase.bytes.prefix(count))
            if let tag = try? VideoTag(parsing: prefix.span.bytes) { #expect(tag.body.upperBound <= count) }
        }
    }

    @Test(
        arguments: [
            ([], .truncated), ([0x17], .truncated), ([0x17, 1, 0, 0], .truncated), ([0x90, 0x61, 0x76], .truncated),
            ([0xA7, 5, 1], .truncated), ([0xA6, 0x06], .nestedMultitrack), ([0xA6, 0x31], .unsupportedMultitrackType(3)),
            ([0xA6, 0x13] + avc1 + [0, 0, 0, 2, 7], .overlong), ([0xA6, 0x13] + avc1, .truncated),
        ] as [([UInt8], FLVError)])
    func `rejects`(_ bytes: [UInt8], _ error: FLVError) {
        #expect(throws: error) { try VideoTag(parsing: bytes.span.bytes) }
    }

    @Test func `names what is refused`() {
        #expect(VideoCodec.hevc.name == "HEVC (H.265)")
        #expect(VideoCodec.unknownFourCC(FourCC(rawValue: 0x6100_0A62)).name == "video codec a??b")
    }
}
