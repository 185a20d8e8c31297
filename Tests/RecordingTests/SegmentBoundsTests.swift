import Testing

@testable import Recording

@Suite("Where segments end")
struct SegmentBoundsTests {
    /// Of six seconds, from the second one on.
    private static func bounds() -> SegmentBounds {
        var bounds = SegmentBounds(target: 540_000)
        bounds.begin(at: 90_000)
        return bounds
    }

    /// A keyframe a twentieth of a second before the target is on it; without one a minute is the end.
    @Test(
        arguments: [(625_499, true, false), (625_500, true, true), (5_489_999, false, false), (5_490_000, false, true)]
            as [(Int64, Bool, Bool)])
    func `at a keyframe, or after a minute`(_ time: Int64, _ isKeyframe: Bool, _ ends: Bool) {
        #expect(Self.bounds().endsSegment(atPicture: time, isKeyframe: isKeyframe) == ends)
    }

    @Test
    func `a part does not end its segment`() {
        var bounds = Self.bounds()
        #expect(!bounds.endsPart(at: 179_999) && bounds.endsPart(at: 180_000))
        bounds.end(at: 180_000, segmentToo: false)
        #expect(!bounds.endsPart(at: 180_000) && bounds.segmentStart == 90_000)
        bounds.end(at: 270_000, segmentToo: true)
        #expect(bounds.segmentStart == 270_000 && !bounds.endsSegment(atSound: 809_999) && bounds.endsSegment(atSound: 810_000))
    }
}
