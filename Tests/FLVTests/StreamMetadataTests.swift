import AMF0
import FLV
import Testing
import Wire

@Suite("onMetaData")
struct StreamMetadataTests {
    private static func parsed(_ values: [AMF0Value]) -> StreamMetadata? { StreamMetadata(parsing: values.amf0Bytes.span.bytes) }

    /// The example of Enhanced RTMP v2, "Enhancing onMetaData".
    private static let example: AMF0Object = [
        "width": 640.0,
        "videoTrackIdInfoMap": .object([
            "1": .object(["width": 1_024.0, "height": 768.0, "videodatarate": 2_000.0]), "2": .object(["width": 3_840.0]),
        ]),
        "audioTrackIdInfoMap": .object(["1": .object(["audiodatarate": 96.0, "channels": 2.0])]),
    ]

    @Test(
        arguments: [
            ["onMetaData", .ecmaArray(example)], ["@setDataFrame", "onMetaData", .ecmaArray(example)],
            ["onMetaData", .object(example), .null],
        ] as [[AMF0Value]])
    func `tells the tracks beside the first`(_ values: [AMF0Value]) throws {
        let metadata = try #require(Self.parsed(values))
        #expect(metadata.videoTracks[1] == StreamMetadata.Track(width: 1_024, height: 768, kilobitsPerSecond: 2_000))
        #expect(metadata.videoTracks[2] == StreamMetadata.Track(width: 3_840))
        #expect(metadata.audioTracks == [1: StreamMetadata.Track(kilobitsPerSecond: 96)])
    }

    @Test func `passes over numbers and names that make no sense`() throws {
        let map: AMF0Object = [
            "": .object([:]), "-1": .object([:]), "256": .object([:]), "3": 7.0,
            "4": .object(["width": .number(.nan), "height": -1.0, "videodatarate": .number(.infinity)]),
        ]
        let metadata = try #require(Self.parsed(["onMetaData", .object(["videoTrackIdInfoMap": .object(map)])]))
        #expect(metadata.videoTracks == [4: StreamMetadata.Track()])
        #expect(metadata.audioTracks.isEmpty)
    }

    @Test func `looks at a few tracks only`() throws {
        let map = AMF0Object((1...200).map { .init(name: "\($0)", value: .object(["width": 1.0])) })
        let metadata = try #require(Self.parsed(["onMetaData", .object(["videoTrackIdInfoMap": .object(map)])]))
        #expect(metadata.videoTracks.count == 32)
    }

    @Test(arguments: [[], ["onCuePoint", .object([:])], ["onMetaData"], ["@setDataFrame"], [1.0, .null]] as [[AMF0Value]])
    func `is not found in other messages`(_ values: [AMF0Value]) { #expect(Self.parsed(values) == nil) }

    @Test func `is not read where it is too long`() {
        let long = AMF0Value.object(["text": .string(String(repeating: "a", count: 70_000))])
        #expect(Self.parsed(["onMetaData", long]) == nil)
    }
}
