import FLV
import TestSupport
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
        var trackID: UInt8 = 0
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
            testDescription: "one track that is not track 0, as OBS sends them", bytes: [0xA6, 0x01] + avc1 + [1, 0, 0, 5, 9],
            codec: .h264, frameType: .inter, packet: .codedFrames, payload: [9], compositionTime: 5, trackID: 1),
        Case(
            testDescription: "one track's metadata", bytes: [0x86, 0x04] + avc1 + [2, 2], codec: .h264,
            frameType: .reserved(0), packet: .metadata, payload: [2], trackID: 2),
        Case(
            testDescription: "one track's end", bytes: [0x96, 0x02] + avc1 + [255], codec: .h264, frameType: .key,
            packet: .sequenceEnd, payload: [], trackID: 255),
        Case(
            testDescription: "one track with a nanosecond offset",
            bytes: [0xA7, 2, 0, 0, 7, 0x06, 0x03] + avc1 + [1, 9], codec: .h264, frameType: .inter, packet: .codedFrames,
            payload: [9], nanosecondOffset: 7, trackID: 1),
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
        #expect(tag.trackID == testCase.trackID)
        #expect(try tag.next(in: testCase.bytes.span.bytes) == nil)
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
            ([0xA6, 0x01] + avc1, .truncated), ([0xA6, 0x01] + avc1 + [1, 0, 0], .truncated), ([0xA6, 0x21, 0x61], .truncated),
            ([0xA6, 0x11] + avc1 + [0, 0, 0, 2, 0, 0], .truncated), ([0xA6, 0x13] + avc1 + [0, 0xFF, 0xFF, 0xFF], .overlong),
        ] as [([UInt8], FLVError)])
    func `rejects`(_ bytes: [UInt8], _ error: FLVError) {
        #expect(throws: error) { try VideoTag(parsing: bytes.span.bytes) }
    }

    struct Track: Equatable {
        var id: UInt8
        var codec: VideoCodec
        var payload: [UInt8]
        var compositionTime: Int32 = 0
    }

    /// All tracks of one message, and how reading them ended.
    private static func tracks(_ bytes: [UInt8]) -> (tracks: [Track], error: FLVError?) {
        var tracks: [Track] = []
        do throws(FLVError) {
            var next: VideoTag? = try VideoTag(parsing: bytes.span.bytes)
            while let tag = next {
                tracks.append(
                    Track(
                        id: tag.trackID, codec: tag.codec, payload: Array(bytes[tag.body]), compositionTime: tag.compositionTime))
                next = try tag.next(in: bytes.span.bytes)
            }
        } catch {
            return (tracks, error)
        }
        return (tracks, nil)
    }

    static let manyTracks: [([UInt8], [Track])] = [
        (
            [0xA6, 0x11] + avc1 + [1, 0, 0, 4, 0, 0, 5, 7] + [0, 0, 0, 5, 0xFF, 0xFF, 0xFF, 8, 9],
            [
                Track(id: 1, codec: .h264, payload: [7], compositionTime: 5),
                Track(id: 0, codec: .h264, payload: [8, 9], compositionTime: -1),
            ]
        ),
        (
            [0xA6, 0x13] + avc1 + [1, 0, 0, 2, 7, 7] + [0, 0, 0, 1, 9] + [2, 0, 0, 0],
            [
                Track(id: 1, codec: .h264, payload: [7, 7]), Track(id: 0, codec: .h264, payload: [9]),
                Track(id: 2, codec: .h264, payload: []),
            ]
        ),
        (
            [0x96, 0x20] + hvc1 + [1, 0, 0, 1, 7] + avc1 + [0, 0, 0, 2, 8, 9],
            [Track(id: 1, codec: .hevc, payload: [7]), Track(id: 0, codec: .h264, payload: [8, 9])]
        ),
        (
            [0xA6, 0x21] + Array("av01".utf8) + [0, 0, 0, 1, 7] + avc1 + [3, 0, 0, 4, 0, 0, 1, 9],
            [Track(id: 0, codec: .av1, payload: [7]), Track(id: 3, codec: .h264, payload: [9], compositionTime: 1)]
        ),
    ]

    @Test(arguments: manyTracks)
    func `gives all tracks of a message in their order`(_ bytes: [UInt8], _ tracks: [Track]) {
        let found = Self.tracks(bytes)
        #expect(found.tracks == tracks)
        #expect(found.error == nil)
    }

    @Test(arguments: manyTracks)
    func `a message cut short gives its whole tracks, and no others`(_ bytes: [UInt8], _ tracks: [Track]) {
        for count in 0..<bytes.count {
            let found = Self.tracks(Array(bytes.prefix(count)))
            #expect(found.tracks.count < tracks.count && found.tracks == Array(tracks.prefix(found.tracks.count)))
        }
    }

    private static let seventeenTracks: [UInt8] =
        [0xA6, 0x13] + avc1 + (0..<17 as Range<UInt8>).flatMap { (id: UInt8) -> [UInt8] in [id, 0, 0, 1, 9] }

    /// A size beyond the message, or a payload too short for its composition time, ends the reading; so do tracks without end.
    @Test(
        arguments: [
            ([0xA6, 0x13] + avc1 + [0, 0, 0, 1, 9] + [1, 0xFF, 0xFF, 0xFF, 9], 1, .overlong),
            ([0xA6, 0x11] + avc1 + [0, 0, 0, 4, 0, 0, 0, 9] + [1, 0, 0, 2, 0, 0], 1, .truncated),
            (seventeenTracks, 16, .tooManyTracks),
        ] as [([UInt8], Int, FLVError)])
    func `ends where a track is not what it says`(_ bytes: [UInt8], _ count: Int, _ error: FLVError) {
        let found = Self.tracks(bytes)
        #expect(found.tracks.count == count)
        #expect(found.error == error)
    }

    @Test(arguments: [cases[1].bytes, manyTracks[0].0])
    func `allocates nothing`(_ bytes: [UInt8]) throws {
        var count = 0
        let allocations = try AllocationCounter.count {
            var next = try? VideoTag(parsing: bytes.span.bytes)
            while let tag = next {
                count += 1
                next = try? tag.next(in: bytes.span.bytes)
            }
        }
        #expect(count > 0)
        #expect(allocations == 0)
    }

    @Test func `names what is refused`() {
        #expect(VideoCodec.hevc.name == "HEVC (H.265)")
        #expect(VideoCodec.unknownFourCC(FourCC(rawValue: 0x6100_0A62)).name == "codec a??b")
        #expect(VideoCodec.screenVideo.name == "Flash Screen")
    }
}
