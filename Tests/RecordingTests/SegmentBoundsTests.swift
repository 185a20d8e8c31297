import Testing

@testable import Recording

@Suite("Where segments end")
struct SegmentBoundsTests {
    /// Of six seconds, from the second one on.
    private static func bounds() -> SegmentBounds {
        var bounds = SegmentBounds(target: 540_000)
        bounds.begin(at: FileTime(ticks: 90_000))
        return bounds
    }

    /// A keyframe a twentieth of a second before the target is on it; without one a minute is the end.
    @Test(
        arguments: [(625_499, true, false), (625_500, true, true), (5_489_999, false, false), (5_490_000, false, true)]
            as [(Int64, Bool, Bool)])
    func `at a keyframe, or after a minute`(_ time: Int64, _ isKeyframe: Bool, _ ends: Bool) {
        #expect(Self.bounds().endsSegment(atPicture: FileTime(ticks: time), isKeyframe: isKeyframe) == ends)
    }

    @Test
    func `a part does not end its segment`() {
        let (end, next) = (FileTime(ticks: 180_000), FileTime(ticks: 270_000))
        var bounds = Self.bounds()
        #expect(!bounds.endsPart(at: FileTime(ticks: 179_999)) && bounds.endsPart(at: end))
        bounds.end(at: end, segmentToo: false)
        #expect(!bounds.endsPart(at: end) && bounds.segmentStart == FileTime(ticks: 90_000))
        bounds.end(at: next, segmentToo: true)
        #expect(bounds.segmentStart == next)
        #expect(!bounds.endsSegment(atSound: next + 539_999) && bounds.endsSegment(atSound: next + 540_000))
    }
}
