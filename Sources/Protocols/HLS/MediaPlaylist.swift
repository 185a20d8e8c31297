public import Wire

/// A playlist of fMP4 segments (RFC 8216 §4.3.3): an EVENT while it grows, VOD when it is over.
///
/// A value: segments are appended, `text` is what a client reads. What is written once is never taken back or changed, but for the
/// target duration, which a segment without a keyframe in time may raise.
public struct MediaPlaylist: Equatable, Sendable {
    /// One media segment.
    public struct Segment: Equatable, Sendable {
        /// Relative to the playlist.
        public var uri: String
        public var duration: Duration
        /// Of the initialization segment that it needs, relative to the playlist.
        public var map: String
        /// Its timestamps or its encoding do not continue those before it.
        public var isDiscontinuous: Bool
        /// When its first frame was; said for the first segment and after discontinuities.
        public var programDateTime: WallTime
        /// It begins with a keyframe.
        public var isIndependent: Bool

        /// - Parameters:
        ///   - uri: relative to the playlist.
        ///   - map: the initialization segment's, relative to the playlist.
        public init(
            uri: String, duration: Duration, map: String, isDiscontinuous: Bool = false, programDateTime: WallTime,
            isIndependent: Bool = true
        ) {
            (self.uri, self.duration, self.map) = (uri, duration, map)
            (self.isDiscontinuous, self.programDateTime) = (isDiscontinuous, programDateTime)
            self.isIndependent = isIndependent
        }
    }

    /// In the order of playing.
    public var segments: [Segment] = []
    /// Nothing more comes.
    public var hasEnded = false
    /// Seconds that no segment is meant to exceed.
    public let plannedTargetDuration: Int

    /// - Parameter plannedTargetDuration: seconds, 1 at least, that no segment is meant to exceed; it is said from the start.
    public init(plannedTargetDuration: Int) { self.plannedTargetDuration = plannedTargetDuration }

    /// EXT-X-TARGETDURATION (§4.3.3.1): no segment's duration, rounded to whole seconds, is longer.
    public var targetDuration: Int {
        segments.reduce(plannedTargetDuration) { max($0, Int(($1.duration.nanoseconds + 500_000_000) / 1_000_000_000)) }
    }

    /// Of all segments.
    public var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// The file's content, UTF-8.
    public var text: String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(targetDuration)", "#EXT-X-MEDIA-SEQUENCE:0"]
        lines.append("#EXT-X-PLAYLIST-TYPE:\(hasEnded ? "VOD" : "EVENT")")
        if segments.allSatisfy(\.isIndependent) { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
        var map: String?
        for (index, segment) in segments.enumerated() {
            if segment.isDiscontinuous, index > 0 { lines.append("#EXT-X-DISCONTINUITY") }
            if segment.map != map || segment.isDiscontinuous { lines.append("#EXT-X-MAP:URI=\"\(segment.map)\"") }
            map = segment.map
            if segment.isDiscontinuous || index == 0 {
                lines.append("#EXT-X-PROGRAM-DATE-TIME:\(CivilTime(segment.programDateTime).rfc3339)")
            }
            lines.append("#EXTINF:\(decimal(segment.duration, digits: 5)),")
            lines.append(segment.uri)
        }
        if hasEnded { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Seconds with so many digits after the point, rounded to the nearest. HLS knows none below zero.
func decimal(_ duration: Duration, digits: Int) -> String {
    var unit: Int64 = 1_000_000_000
    for _ in 0..<digits { unit /= 10 }
    let units = (max(0, duration.nanoseconds) + unit / 2) / unit
    let whole = 1_000_000_000 / unit
    let fraction = String(units % whole)
    return "\(units / whole)." + String(repeating: "0", count: digits - fraction.count) + fraction
}
