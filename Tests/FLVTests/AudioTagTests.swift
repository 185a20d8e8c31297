import FLV
import Testing
import Wire

@Suite("Audio message bodies")
struct AudioTagTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var codec: AudioCodec
        var packet: AudioTag.Packet
        var payload: [UInt8]
        var nanosecondOffset: UInt32 = 0
        var trackID: UInt8 = 0
    }

    static let opus: [UInt8] = Array("Opus".utf8)

    static let cases: [Case] = [
        Case(
            testDescription: "AAC sequence header", bytes: [0xAF, 0, 0x11, 0x90], codec: .aac, packet: .sequenceStart,
            payload: [0x11, 0x90]),
        Case(testDescription: "AAC frame", bytes: [0xAF, 1, 9], codec: .aac, packet: .codedFrames, payload: [9]),
        Case(testDescription: "MP3", bytes: [0x2F, 9], codec: .mp3, packet: .codedFrames, payload: [9]),
        Case(testDescription: "Speex", bytes: [0xB2, 9], codec: .speex, packet: .codedFrames, payload: [9]),
        Case(testDescription: "PCM", bytes: [0x3F, 9], codec: .pcm, packet: .codedFrames, payload: [9]),
        Case(
            testDescription: "Opus sequence start", bytes: [0x90] + opus + [1, 2], codec: .opus, packet: .sequenceStart,
            payload: [1, 2]),
        Case(testDescription: "Opus frame", bytes: [0x91] + opus + [9], codec: .opus, packet: .codedFrames, payload: [9]),
        Case(
            testDescription: "enhanced AAC", bytes: [0x91] + Array("mp4a".utf8) + [9], codec: .aac, packet: .codedFrames,
            payload: [9]),
        Case(
            testDescription: "FLAC", bytes: [0x90] + Array("fLaC".utf8), codec: .flac, packet: .sequenceStart, payload: []),
        Case(
            testDescription: "AC-3", bytes: [0x91] + Array("ac-3".utf8) + [9], codec: .ac3, packet: .codedFrames, payload: [9]),
        Case(
            testDescription: "multichannel configuration", bytes: [0x94] + opus + [1, 2], codec: .opus,
            packet: .multichannelConfiguration, payload: [1, 2]),
        Case(testDescription: "end", bytes: [0x92] + opus, codec: .opus, packet: .sequenceEnd, payload: []),
        Case(
            testDescription: "nanosecond offset", bytes: [0x97, 2, 0, 0, 7, 0x01] + opus + [9], codec: .opus,
            packet: .codedFrames, payload: [9], nanosecondOffset: 7),
        Case(
            testDescription: "one track that is not track 0, as OBS sends a second one",
            bytes: [0x95, 0x01] + Array("mp4a".utf8) + [1, 9], codec: .aac, packet: .codedFrames, payload: [9], trackID: 1),
        Case(
            testDescription: "one track's channels", bytes: [0x95, 0x04] + opus + [2, 7], codec: .opus,
            packet: .multichannelConfiguration, payload: [7], trackID: 2),
    ]

    @Test(arguments: cases)
    func `reads`(_ testCase: Case) throws {
        let tag = try AudioTag(parsing: testCase.bytes.span.bytes)
        #expect(tag.codec == testCase.codec)
        #expect(tag.packet == testCase.packet)
        #expect(Array(testCase.bytes[tag.body]) == testCase.payload)
        #expect(tag.nanosecondOffset == testCase.nanosecondOffset)
        #expect(tag.trackID == testCase.trackID)
        #expect(try tag.next(in: testCase.bytes.span.bytes) == nil)
    }

    @Test(
        arguments: [
            ([0x95, 0x11] + opus + [0, 0, 0, 1, 9, 1, 0, 0, 1, 8], [0, 1], [.opus, .opus]),
            ([0x95, 0x21] + opus + [1, 0, 0, 1, 9] + Array("mp4a".utf8) + [0, 0, 0, 1, 8], [1, 0], [.opus, .aac]),
        ] as [([UInt8], [UInt8], [AudioCodec])])
    func `gives all tracks of a message in their order`(_ bytes: [UInt8], _ tracks: [UInt8], _ codecs: [AudioCodec]) throws {
        let first = try AudioTag(parsing: bytes.span.bytes)
        let second = try #require(try first.next(in: bytes.span.bytes))
        #expect([first.trackID, second.trackID] == tracks)
        #expect([first.codec, second.codec] == codecs)
        #expect([bytes[first.body], bytes[second.body]] == [[9], [8]])
        #expect(try second.next(in: bytes.span.bytes) == nil)
    }

    @Test(
        arguments: [
            ([], .truncated), ([0xAF], .truncated), ([0x90, 0x4F], .truncated), ([0x95, 0x05], .nestedMultitrack),
            ([0x95, 0x11] + opus + [0, 0, 0, 2, 9], .overlong), ([0x95, 0x01] + opus, .truncated),
        ] as [([UInt8], FLVError)])
    func `rejects`(_ bytes: [UInt8], _ error: FLVError) {
        #expect(throws: error) { try AudioTag(parsing: bytes.span.bytes) }
    }
}
