/// Where the segment that is being filled begins, and its part, and when they have lasted long enough. A value; times are ticks
/// of 90 kHz, of the file.
struct SegmentBounds {
    /// Where a segment or a part of it ends.
    struct Cut {
        /// Pictures before it.
        var videoCount: Int
        var time: Int64
        var endsSegment: Bool
        /// What comes after it begins with a keyframe, or with sound where there is nothing else.
        var isIndependent: Bool
    }

    private let target: Int64
    private(set) var segmentStart: Int64 = 0
    private var partStart: Int64 = 0

    /// - Parameter target: a segment's aimed duration.
    init(target: Int64) { self.target = target }

    mutating func begin(at time: Int64) { (segmentStart, partStart) = (time, time) }

    /// A part ended, and maybe the segment with it.
    mutating func end(at time: Int64, segmentToo: Bool) {
        partStart = time
        if segmentToo { segmentStart = time }
    }

    func endsSegment(atPicture time: Int64, isKeyframe: Bool) -> Bool {
        let length = time - segmentStart
        return isKeyframe ? length >= target - Self.tolerance : length >= Self.longestSegment
    }

    func endsSegment(atSound time: Int64) -> Bool { time - segmentStart >= target }

    func endsPart(at time: Int64) -> Bool { time - partStart >= Self.part }

    private static let part: Int64 = 90_000
    /// Encoders' clocks are not exact: a keyframe this much before the target is on it.
    private static let tolerance: Int64 = 4_500
    /// Then a segment ends without a keyframe.
    private static let longestSegment: Int64 = 60 * 90_000
}
