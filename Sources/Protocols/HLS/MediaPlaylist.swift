public import Wire

/// A playlist of fMP4 segments (RFC 8216 §4.3.3): an EVENT while it grows, VOD when it is over.
///
/// A value: segments are appended, `text` is what a client reads. What is written once is never taken back or changed, but for
/// the target duration, which a segment without a keyframe in time may raise. So their lines alone are kept: a recording of a day
/// has 14,400 segments, and its playlist is stored as often.
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

    /// Nothing more comes.
    public var hasEnded = false
    /// EXT-X-TARGETDURATION (§4.3.3.1): no segment's duration, rounded to whole seconds, is longer.
    public private(set) var targetDuration: Int
    private var areIndependent = true
    /// Of the last segment; nil before the first.
    private var map: String?
    /// Of all segments, each with its end.
    private var lines = ""

    /// - Parameter plannedTargetDuration: seconds, 1 at least, that no segment is meant to exceed; it is said from the start.
    public init(plannedTargetDuration: Int) { targetDuration = plannedTargetDuration }

    /// Adds the segment that is played next.
    public mutating func append(_ segment: Segment) {
        let isFirst = map == nil
        if segment.isDiscontinuous, !isFirst { lines += "#EXT-X-DISCONTINUITY\n" }
        if segment.map != map || segment.isDiscontinuous { lines += "#EXT-X-MAP:URI=\"\(segment.map)\"\n" }
        if segment.isDiscontinuous || isFirst {
            lines += "#EXT-X-PROGRAM-DATE-TIME:\(CivilTime(segment.programDateTime).rfc3339)\n"
        }
        lines += "#EXTINF:\(decimal(segment.duration)),\n\(segment.uri)\n"
        map = segment.map
        areIndependent = areIndependent && segment.isIndependent
        targetDuration = max(targetDuration, Int((segment.duration.nanoseconds + 500_000_000) / 1_000_000_000))
    }

    /// The file's content, UTF-8.
    public var text: String {
        var head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:\(targetDuration)\n#EXT-X-MEDIA-SEQUENCE:0\n"
        head += "#EXT-X-PLAYLIST-TYPE:\(hasEnded ? "VOD" : "EVENT")\n"
        if areIndependent { head += "#EXT-X-INDEPENDENT-SEGMENTS\n" }
        return head + lines + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }
}

/// Seconds with five digits after the point, rounded to the nearest. HLS knows none below zero.
private func decimal(_ duration: Duration) -> String {
    let units = (max(0, duration.nanoseconds) + 5_000) / 10_000
    let fraction = String(units % 100_000)
    return "\(units / 100_000)." + String(repeating: "0", count: 5 - fraction.count) + fraction
}
