/// Where the segment that is being filled begins, and its part, and when they have lasted long enough. A value; lengths are ticks
/// of 90 kHz.
struct SegmentBounds {
    /// Where a segment or a part of it ends.
    struct Cut {
        /// Pictures before it.
        var videoCount: Int
        var time: FileTime
        var endsSegment: Bool
        /// What comes after it begins with a keyframe, or with sound where there is nothing else.
        var isIndependent: Bool
    }

    private let target: Int64
    private(set) var segmentStart = FileTime.zero
    private var partStart = FileTime.zero

    /// - Parameter target: a segment's aimed duration.
    init(target: Int64) { self.target = target }

    mutating func begin(at time: FileTime) { (segmentStart, partStart) = (time, time) }

    /// A part ended, and maybe the segment with it.
    mutating func end(at time: FileTime, segmentToo: Bool) {
        partStart = time
        if segmentToo { segmentStart = time }
    }

    func endsSegment(atPicture time: FileTime, isKeyframe: Bool) -> Bool {
        let length = time - segmentStart
        return isKeyframe ? length >= target - Self.tolerance : length >= Self.longestSegment
    }

    func endsSegment(atSound time: FileTime) -> Bool { time - segmentStart >= target }

    func endsPart(at time: FileTime) -> Bool { time - partStart >= Self.part }

    private static let part: Int64 = 90_000
    /// Encoders' clocks are not exact: a keyframe this much before the target is on it.
    private static let tolerance: Int64 = 4_500
    /// Then a segment ends without a keyframe.
    private static let longestSegment: Int64 = 60 * 90_000
}
