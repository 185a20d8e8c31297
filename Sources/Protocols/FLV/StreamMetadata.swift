import AMF0
import Wire

/// What onMetaData says of the tracks beside the first (Enhanced RTMP v2, "Enhancing onMetaData").
/// Hints: the stream itself decides.
public struct StreamMetadata: Equatable, Sendable {
    /// Of one track, as far as it is said.
    public struct Track: Equatable, Sendable {
        public var width: Int?
        public var height: Int?
        public var kilobitsPerSecond: Int?

        public init(width: Int? = nil, height: Int? = nil, kilobitsPerSecond: Int? = nil) {
            (self.width, self.height, self.kilobitsPerSecond) = (width, height, kilobitsPerSecond)
        }
    }

    /// By number of the track; track 0 is not among them.
    public var videoTracks: [UInt8: Track]
    public var audioTracks: [UInt8: Track]

    /// The richest seen has 3 kB.
    static let maximumByteCount = 65_536
    /// Of each kind.
    static let maximumTrackCount = 32

    /// Reads the body of a data message or script tag; nil when it is something else, or not AMF 0 that we take.
    public init?(parsing body: RawSpan) {
        guard body.byteCount <= Self.maximumByteCount, var values = try? AMF0Decoder.values(in: body)[...] else { return nil }
        if values.first?.string == "@setDataFrame" { values.removeFirst() }
        guard values.first?.string == "onMetaData", let members = values.dropFirst().first?.members else { return nil }
        videoTracks = Self.tracks(members["videoTrackIdInfoMap"], rate: "videodatarate")
        audioTracks = Self.tracks(members["audioTrackIdInfoMap"], rate: "audiodatarate")
    }

    private static func tracks(_ map: AMF0Value?, rate: String) -> [UInt8: Track] {
        var tracks: [UInt8: Track] = [:]
        for member in (map?.members?.members ?? []).prefix(maximumTrackCount) {
            guard let id = UInt8(member.name), let told = member.value.members else { continue }
            tracks[id] = Track(
                width: number(told["width"]), height: number(told["height"]), kilobitsPerSecond: number(told[rate]))
        }
        return tracks
    }

    /// Nothing below zero, and nothing that no encoder has.
    private static func number(_ value: AMF0Value?) -> Int? {
        guard let number = value?.number, (0...1_000_000).contains(number) else { return nil }
        return Int(number)
    }
}
